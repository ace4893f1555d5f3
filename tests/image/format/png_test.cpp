#include "dataflow/flow_helpers.h"
#include "dataflow/test_images.h"
#include "image/format/image_codec.h"
#include "image/format/image_formats.h"
#include "support/allocation_counter.h"

namespace tpack {
namespace {

cv::Mat decoded_png(const Bytes& bytes, const Region& region, int channels = 3) {
  cv::Mat out;
  decode_png(bytes, {.region = region}, channels, out);
  return out;
}

TEST(Png, is_lossless_over_every_region_interlaced_or_not) {
  const cv::Mat pixels = photo(37, 29);
  for (const Bytes& bytes : {encode_png(pixels), encode_interlaced_png(pixels)})
    for (const Region& r : {Region{0, 0, 37, 29}, Region{5, 7, 20, 10}, Region{36, 28, 1, 1}})
      EXPECT_EQ(largest_difference(decoded_png(bytes, r), pixels(cv::Rect(r.x, r.y, r.width, r.height))), 0);
}

TEST(Png, converts_to_gray_and_from_gray) {
  const cv::Mat gray = decoded_png(encode_png(photo(20, 20)), {0, 0, 20, 20}, 1);
  const cv::Vec3b rgb = photo(20, 20).at<cv::Vec3b>(9, 9);
  EXPECT_NEAR(gray.at<uint8_t>(9, 9), 0.299 * rgb[0] + 0.587 * rgb[1] + 0.114 * rgb[2], 1.5);
  const cv::Mat color = decoded_png(encode_png(gray), {0, 0, 20, 20}, 3);
  EXPECT_EQ(color.at<cv::Vec3b>(9, 9)[1], gray.at<uint8_t>(9, 9));
}

TEST(Png, keeps_16_bits_where_they_are_wanted) {
  cv::Mat deep(3, 5, CV_16UC1);
  for (int i = 0; i < 15; ++i) deep.at<uint16_t>(i / 5, i % 5) = static_cast<uint16_t>(i * i * 257 + i);
  const auto bytes = encode_deep_png(deep);
  EXPECT_TRUE(is_16_bit_png(bytes));
  EXPECT_FALSE(is_16_bit_png(encode_png(photo(5, 3))));
  cv::Mat out;
  decode_png(bytes, {.region = {1, 1, 4, 2}, .depth = Depth::k16}, 1, out);
  EXPECT_EQ(out.type(), CV_16UC1);
  EXPECT_EQ(largest_difference(out, deep(cv::Rect(1, 1, 4, 2))), 0);
  for (int i = 0; i < 15; ++i)  // the high byte
    EXPECT_EQ(decoded_png(bytes, {0, 0, 5, 3}, 1).at<uint8_t>(i / 5, i % 5), i * i);
}

TEST(Png, damaged_files_are_errors) {
  const auto bytes = encode_png(photo(32, 32));
  const std::string chunk = "IDAT";
  const auto pixels = std::search(bytes.begin(), bytes.end(), chunk.begin(), chunk.end());
  for (auto at = static_cast<size_t>(pixels - bytes.begin()); at + 12 < bytes.size(); at += 11) {
    auto bad = bytes;
    bad[at] ^= 0x55U;
    EXPECT_THROW(decoded_png(bad, {0, 0, 32, 32}), DataError) << at;
  }
}

TEST(Png, false_sizes_of_chunks_cost_no_memory) {
  auto bytes = encode_png(photo(32, 32));
  constexpr size_t kAfterHeader = 8 + 25;
  const Bytes chunk = {0x30, 0, 0, 0, 'e', 'X', 'I', 'f'};
  bytes.insert(bytes.begin() + kAfterHeader, chunk.begin(), chunk.end());
  start_recording_allocations();
  EXPECT_EQ(error_of([&] { decoded_png(bytes, {0, 0, 32, 32}); }), "damaged PNG: the file ends early");
  for (const RecordedAllocation& one : stop_recording_allocations()) EXPECT_LT(one.bytes, 1'000'000U);
}

}  // namespace
}  // namespace tpack
