#include "image/augment/antialias.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <type_traits>
#include <vector>

#include <opencv2/core/hal/intrin.hpp>

#include "core/error.h"
#include "image/pixel_memory.h"

namespace tpack {
namespace {

/// Keys' cubic with a = -0.5, as for antialiased images in Pillow and PyTorch.
double cubic(double x) {
  constexpr double kA = -0.5;
  if (x < 1) return ((kA + 2) * x - (kA + 3)) * x * x + 1;
  return x < 2 ? ((x - 5) * x + 8) * x * kA - 4 * kA : 0;
}

/// A filter over pixels. `stretch`: pixels of the input for one of the output, at least 1.
struct Filter {
  Interpolation kind;
  double stretch;

  /// Only pixels with centers within this distance have a weight.
  double reach() const {
    if (kind == Interpolation::kArea) return (stretch + 1) / 2;
    return kind == Interpolation::kCubic ? 2 * stretch : stretch;
  }
  double weight(double distance) const {
    const double x = std::abs(distance);
    if (kind == Interpolation::kArea) return std::clamp((stretch + 1) / 2 - x, 0.0, 1.0);  // what is covered
    return kind == Interpolation::kCubic ? cubic(x / stretch) : std::max(0.0, 1 - x / stretch);
  }
};

/// For each pixel along one axis of the output: its pixels of the input.
class Taps {
 public:
  /// `start`, `length`: the part of the input's `size` pixels that becomes `outputs` pixels; these are
  /// `count` of them, starting at `first`.
  Taps(int size, double start, double length, int outputs, int first, int count, Interpolation kind) {
    const double scale = length / outputs;
    const Filter filter{kind, std::max(scale, 1.0)};
    stride_ = static_cast<size_t>(2 * std::ceil(filter.reach()) + 1);
    weights_.resize(stride_ * static_cast<size_t>(count));
    for (int i = first; i < first + count; ++i) add(filter, start + (i + 0.5) * scale, size);
  }
  int first(int output) const { return ranges_[static_cast<size_t>(output)].first; }
  int count(int output) const { return ranges_[static_cast<size_t>(output)].count; }
  const float* weights(int output) const { return &weights_[stride_ * static_cast<size_t>(output)]; }

 private:
  struct Range {
    int first = 0;
    int count = 0;
  };

  void add(const Filter& filter, double center, int size) {
    const int last = std::clamp(static_cast<int>(std::floor(center + filter.reach() + 0.5)), 1, size);
    const int first = std::clamp(static_cast<int>(std::ceil(center - filter.reach() - 0.5)), 0, last - 1);
    float* weights = &weights_[stride_ * ranges_.size()];
    ranges_.push_back({first, std::min(last - first, static_cast<int>(stride_))});
    double sum = 0;
    for (int k = 0; k < ranges_.back().count; ++k) sum += filter.weight(first + k + 0.5 - center);
    for (int k = 0; k < ranges_.back().count; ++k)
      weights[k] = static_cast<float>(filter.weight(first + k + 0.5 - center) / sum);
  }

  size_t stride_ = 0;
  std::vector<float> weights_;
  std::vector<Range> ranges_;
};

/// One row of the output's height, at the width of the input.
template <class T>
void mix_rows(const cv::Mat& in, const Taps& taps, int y, float* out) {
  const int values = in.cols * in.channels();
  std::fill_n(out, values, 0.0F);
  int k = 0;
  for (; k + 2 <= taps.count(y); k += 2) {  // two at a time: half of the reads and writes of `out`
    const T* above = in.ptr<T>(taps.first(y) + k);
    const T* below = in.ptr<T>(taps.first(y) + k + 1);
    const float a = taps.weights(y)[k];
    const float b = taps.weights(y)[k + 1];
    for (int i = 0; i < values; ++i)
      out[i] += a * static_cast<float>(above[i]) + b * static_cast<float>(below[i]);
  }
  for (; k < taps.count(y); ++k) {
    const T* row = in.ptr<T>(taps.first(y) + k);
    const float weight = taps.weights(y)[k];
    for (int i = 0; i < values; ++i) out[i] += weight * static_cast<float>(row[i]);
  }
}

template <int kChannels, class T>
void mix_columns(const float* row, const Taps& taps, int width, T* out) {
  for (int x = 0; x < width; ++x) {
    std::array<float, kChannels> sum{};
    const float* pixel = row + static_cast<ptrdiff_t>(taps.first(x)) * kChannels;
    const float* weights = taps.weights(x);
    for (int k = 0; k < taps.count(x); ++k, pixel += kChannels) {
      for (size_t c = 0; c < kChannels; ++c) sum[c] += weights[k] * pixel[c];
    }
    for (const float value : sum) *out++ = cv::saturate_cast<T>(value);
  }
}

/// RGB of 8 bits: four values of `row` at a time; the last one belongs to the next pixel, or is after the
/// row.
void mix_columns_of_rgb(const float* row, const Taps& taps, int width, uint8_t* out) {
  for (int x = 0; x < width; ++x, out += 3) {
    cv::v_float32x4 sum = cv::v_setzero_f32();
    const float* pixel = row + static_cast<ptrdiff_t>(taps.first(x)) * 3;
    const float* weights = taps.weights(x);
    for (int k = 0; k < taps.count(x); ++k, pixel += 3)
      sum = cv::v_muladd(cv::v_load(pixel), cv::v_setall_f32(weights[k]), sum);
    const cv::v_int32x4 rounded = cv::v_round(sum);
    const cv::v_int16x8 words = cv::v_pack(rounded, rounded);
    const int bytes = cv::v_reinterpret_as_s32(cv::v_pack_u(words, words)).get0();
    std::memcpy(out, &bytes, 3);
  }
}

template <class T>
void resample(const cv::Mat& in, const Taps& down, const Taps& across, cv::Mat& out) {
  cv::Mat row = pooled_mat(1, in.cols * in.channels() + 1, CV_32F);
  row.at<float>(in.cols * in.channels()) = 0;
  for (int y = 0; y < out.rows; ++y) {
    mix_rows<T>(in, down, y, row.ptr<float>());
    const auto mix = [&]<int kChannels>() {
      mix_columns<kChannels>(row.ptr<float>(), across, out.cols, out.ptr<T>(y));
    };
    switch (in.channels()) {
      case 1:
        mix.template operator()<1>();
        break;
      case 2:
        mix.template operator()<2>();
        break;
      case 3:
        if constexpr (std::is_same_v<T, uint8_t>)
          mix_columns_of_rgb(row.ptr<float>(), across, out.cols, out.ptr(y));
        else
          mix.template operator()<3>();
        break;
      default:
        mix.template operator()<4>();
    }
  }
}

}  // namespace

cv::Mat resize_smoothly(const cv::Mat& in, const Box& from, ImageSize to, const Region& part,
                        Interpolation filter) {
  TPACK_ASSERT(in.channels() <= 4, "images have 1 to 4 channels");
  const Taps down(in.rows, from.y, from.height, to.height, part.y, part.height, filter);
  const Taps across(in.cols, from.x, from.width, to.width, part.x, part.width, filter);
  cv::Mat out = pooled_mat(part.height, part.width, in.type());
  by_depth(in, [&](auto zero) { resample<decltype(zero)>(in, down, across, out); });
  return out;
}

Region pixels_of(const Region& part, ImageSize in, ImageSize to, Interpolation filter) {
  const auto along = [filter](int first, int count, int size, int outputs) {
    const double scale = static_cast<double>(size) / outputs;
    const double reach = Filter{filter, std::max(scale, 1.0)}.reach() + 1;
    const int begin = std::max(0, static_cast<int>((first + 0.5) * scale - reach));
    const int end = std::min(size, static_cast<int>(std::ceil((first + count - 0.5) * scale + reach)));
    return std::pair{begin, end - begin};
  };
  const auto [x, width] = along(part.x, part.width, in.width, to.width);
  const auto [y, height] = along(part.y, part.height, in.height, to.height);
  return {x, y, width, height};
}

}  // namespace tpack
