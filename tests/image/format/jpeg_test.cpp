#include <opencv2/imgproc.hpp>

#include "dataflow/flow_helpers.h"
#include "dataflow/test_images.h"
#include "image/format/image_codec.h"
#include "image/format/image_formats.h"

namespace tpack {
namespace {

cv::Mat decoded(const Bytes& bytes, const DecodeRequest& request, int channels = 3) {
  cv::Mat out;
  decode_jpeg(bytes, request, channels, out);
  return out;
}

TEST(Jpeg, a_region_equals_the_same_region_of_the_whole) {
  for (const int quality : {60, 95}) {
    const auto bytes = encode_jpeg(photo(203, 151), quality);
    const cv::Mat whole = decoded(bytes, {.region = {0, 0, 203, 151}});
    for (const Region& r : {Region{0, 0, 50, 40}, Region{17, 23, 100, 90}, Region{150, 100, 53, 51},
                            Region{101, 75, 1, 1}, Region{0, 150, 203, 1}, Region{202, 0, 1, 151}}) {
      const cv::Mat part = decoded(bytes, {.region = r});
      ASSERT_EQ(part.cols, r.width);
      ASSERT_EQ(part.rows, r.height);
      EXPECT_LE(largest_difference(part, whole(cv::Rect(r.x, r.y, r.width, r.height))), 2)
          << r.x << "," << r.y << " " << r.width << "x" << r.height << " quality " << quality;
    }
  }
}

TEST(Jpeg, a_reduced_decode_is_near_the_averaged_whole) {
  const auto bytes = encode_jpeg(photo(256, 192));
  const cv::Mat whole = decoded(bytes, {.region = {0, 0, 256, 192}});
  const cv::Mat half = decoded(bytes, {.region = {0, 0, 256, 192}, .shrinks_by = 192.0 / 45});
  ASSERT_EQ(half.cols, 128);
  ASSERT_EQ(half.rows, 96);
  cv::Mat expected;
  cv::resize(whole, expected, half.size(), 0, 0, cv::INTER_AREA);
  EXPECT_LT(cv::norm(half, expected, cv::NORM_L1) / static_cast<double>(half.total() * 3), 2);
  EXPECT_EQ(decoded(bytes, {.region = {0, 0, 256, 192}, .shrinks_by = 256.0 / 65}).cols, 256)
      << "never below twice the target";
}

TEST(Jpeg, converts_to_gray_and_from_gray) {
  const auto color = encode_jpeg(photo(40, 40));
  EXPECT_EQ(decoded(color, {.region = {0, 0, 40, 40}}, 1).channels(), 1);
  cv::Mat gray;
  cv::extractChannel(photo(40, 40), gray, 0);
  const cv::Mat back = decoded(encode_jpeg(gray), {.region = {0, 0, 40, 40}}, 3);
  EXPECT_EQ(back.channels(), 3);
  EXPECT_EQ(back.at<cv::Vec3b>(20, 20)[0], back.at<cv::Vec3b>(20, 20)[2]);
}

/// The bytes without the segments of a marker.
Bytes without_segments(const Bytes& jpeg, uint8_t marker) {
  Bytes out(jpeg.begin(), jpeg.begin() + 2);
  size_t at = 2;
  while (jpeg[at + 1] != 0xDA) {
    const auto end = static_cast<ptrdiff_t>(at + 2 + jpeg[at + 2] * 256U + jpeg[at + 3]);
    if (jpeg[at + 1] != marker)
      out.insert(out.end(), jpeg.begin() + static_cast<ptrdiff_t>(at), jpeg.begin() + end);
    at = static_cast<size_t>(end);
  }
  out.insert(out.end(), jpeg.begin() + static_cast<ptrdiff_t>(at), jpeg.end());
  return out;
}

/// Not even after a file that has them. Without Huffman tables, those of the standard count, with which
/// OpenCV writes.
TEST(Jpeg, tables_of_one_file_do_not_serve_another) {
  const Region all{0, 0, 64, 64};
  const auto bytes = encode_jpeg(photo(64, 64), 40);
  const cv::Mat whole = decoded(bytes, {.region = all}).clone();
  EXPECT_TRUE(
      fails([&] { decoded(without_segments(bytes, 0xDB), {.region = all}); }, {"Quantization table"}));
  auto other = bytes;  // with another Huffman table: the symbols of its first one are in another order
  const Bytes start = {0xFF, 0xC4};
  const auto table = std::search(other.begin(), other.end(), start.begin(), start.end());
  std::reverse(table + 21, table + 30);
  for (int i = 0; i < 100; ++i) {
    error_of([&] { decoded(other, {.region = all}); });
    EXPECT_EQ(largest_difference(decoded(without_segments(bytes, 0xC4), {.region = all}), whole), 0);
  }
}

}  // namespace
}  // namespace tpack
