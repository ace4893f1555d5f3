#include "cpu/ops/simd_pooling.h"

#include <cmath>
#include <numeric>

#include <gtest/gtest.h>

namespace tpack::cpu::simd {
namespace {

/// Three adjacent windows of 2x2 in an image of 2 x 6 pixels.
struct Row {
  explicit Row(size_t width) : channels(static_cast<int64_t>(width)) {
    offsets = {0, channels, 6 * channels, 7 * channels};
    windows = {width, offsets.data(), numbers.data(), numbers.size(), 3, 2 * channels};
    image.resize(12 * width);
    for (size_t i = 0; i < image.size(); ++i) image[i] = static_cast<float>((i * 37) % 11);
  }
  float at(size_t window, size_t place, size_t channel) const {
    return image[window * 2 * static_cast<size_t>(channels) + static_cast<size_t>(offsets[place]) + channel];
  }
  size_t pooled() const { return 3 * static_cast<size_t>(channels); }

  int64_t channels;
  std::vector<int64_t> offsets;
  std::vector<uint8_t> numbers = {0, 1, 2, 3};
  std::vector<float> image;
  Windows windows;
};

std::byte* bytes(float* x) { return reinterpret_cast<std::byte*>(x); }
const std::byte* bytes(const float* x) { return reinterpret_cast<const std::byte*>(x); }

/// One channel (plain layout), a block of them, and a count that is no multiple of a vector's length.
class Pooling : public testing::TestWithParam<size_t> {};
INSTANTIATE_TEST_SUITE_P(Channels, Pooling, testing::Values(1, 16, 21));

TEST_P(Pooling, max_of_keeps_a_nan_at_any_place) {
  for (size_t place = 0; place < 4; ++place) {
    Row row(GetParam());
    for (int64_t channel = 0; channel < row.channels; ++channel)
      row.image[static_cast<size_t>(row.offsets[place] + channel)] = std::nanf("");
    std::vector<float> out(row.pooled());
    std::vector<uint8_t> index(row.pooled());
    max_of(DType::kFloat32, bytes(row.image.data()), row.windows, bytes(out.data()), index.data());
    for (size_t channel = 0; channel < GetParam(); ++channel) {
      EXPECT_TRUE(std::isnan(out[channel])) << place;
      EXPECT_EQ(index[channel], place);
      EXPECT_FALSE(std::isnan(out[channel + GetParam()]));
    }
  }
}

TEST_P(Pooling, max_of_keeps_the_first_of_equals) {
  const Row row(GetParam());
  std::vector<float> out(row.pooled());
  std::vector<uint8_t> index(row.pooled());
  max_of(DType::kFloat32, bytes(row.image.data()), row.windows, bytes(out.data()), index.data());
  for (size_t i = 0; i < out.size(); ++i) {
    size_t first = 0;
    for (size_t place = 1; place < 4; ++place) {
      if (row.at(i / GetParam(), place, i % GetParam()) > row.at(i / GetParam(), first, i % GetParam()))
        first = place;
    }
    EXPECT_EQ(index[i], first) << i;
    EXPECT_EQ(out[i], row.at(i / GetParam(), first, i % GetParam())) << i;
  }
}

TEST_P(Pooling, scatter_writes_or_adds_where_the_index_says) {
  const Row row(GetParam());
  std::vector<float> out(row.pooled());
  std::vector<uint8_t> index(row.pooled());
  max_of(DType::kFloat32, bytes(row.image.data()), row.windows, bytes(out.data()), index.data());
  std::vector<float> dy(row.pooled());
  std::iota(dy.begin(), dy.end(), 1.0F);
  std::vector<float> written(row.image.size(), 7.0F);
  std::vector<float> added(row.image.size(), 7.0F);
  scatter(DType::kFloat32, bytes(dy.data()), index.data(), row.windows, bytes(written.data()),
          Scatter::kWrite);
  scatter(DType::kFloat32, bytes(dy.data()), index.data(), row.windows, bytes(added.data()), Scatter::kAdd);
  EXPECT_EQ(std::accumulate(written.begin(), written.end(), 0.0F),
            std::accumulate(dy.begin(), dy.end(), 0.0F));
  for (size_t i = 0; i < written.size(); ++i) EXPECT_EQ(added[i], written[i] + 7.0F) << i;
  std::vector<float> found(row.pooled());
  gather(DType::kFloat32, bytes(written.data()), index.data(), row.windows, bytes(found.data()));
  EXPECT_EQ(found, dy);
}

TEST_P(Pooling, mean_of_and_spread_are_transposed) {
  const Row row(GetParam());
  std::vector<float> mean(row.pooled());
  mean_of(DType::kFloat32, bytes(row.image.data()), row.windows, bytes(mean.data()));
  std::vector<float> spread_out(row.image.size(), 0.0F);
  spread(DType::kFloat32, bytes(mean.data()), row.windows, bytes(spread_out.data()));
  double inner_pooled = 0;
  double inner_image = 0;
  for (const float m : mean) inner_pooled += static_cast<double>(m) * static_cast<double>(m);
  for (size_t i = 0; i < spread_out.size(); ++i)
    inner_image += static_cast<double>(spread_out[i]) * static_cast<double>(row.image[i]);
  EXPECT_NEAR(inner_pooled, inner_image, 1e-4 * inner_pooled);
  EXPECT_FLOAT_EQ(mean[0], (row.at(0, 0, 0) + row.at(0, 1, 0) + row.at(0, 2, 0) + row.at(0, 3, 0)) / 4);
}

}  // namespace
}  // namespace tpack::cpu::simd
