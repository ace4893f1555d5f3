#include "image/augment/antialias.h"

#include <algorithm>
#include <cmath>

#include <opencv2/imgproc.hpp>

#include "dataflow/flow_helpers.h"
#include "dataflow/test_images.h"

namespace tpack {
namespace {

Box whole(const cv::Mat& m) { return {0, 0, static_cast<double>(m.cols), static_cast<double>(m.rows)}; }

cv::Mat ramps() {
  cv::Mat pixels(9, 13, CV_8UC1);
  for (int y = 0; y < pixels.rows; ++y)
    for (int x = 0; x < pixels.cols; ++x)
      pixels.at<uint8_t>(y, x) = static_cast<uint8_t>((x * 37 + y * 91) % 256);
  return pixels;
}

/// Image.resize((4, 3), ...) of Pillow 13.
TEST(ResizeSmoothly, gives_the_pixels_of_pillow) {
  struct Case {
    Interpolation filter;
    Box from;
    std::vector<int> expected;
  };
  const Box all{0, 0, 13, 9};
  const Box part{1.5, 0.25, 10.75, 8.25};
  for (const auto& [filter, from, expected] :
       {Case{Interpolation::kLinear, all, {107, 130, 111, 134, 120, 113, 125, 113, 142, 117, 121, 121}},
        Case{Interpolation::kLinear, part, {117, 128, 111, 131, 115, 116, 126, 114, 130, 116, 118, 125}},
        Case{Interpolation::kCubic, all, {102, 133, 108, 132, 119, 114, 127, 114, 143, 116, 118, 123}},
        Case{Interpolation::kCubic, part, {115, 132, 106, 131, 114, 117, 129, 112, 133, 112, 118, 126}}}) {
    const cv::Mat out = resize_smoothly(ramps(), from, {4, 3}, {0, 0, 4, 3}, filter);
    for (int i = 0; i < 12; ++i)
      EXPECT_NEAR(out.at<uint8_t>(i / 4, i % 4), expected[static_cast<size_t>(i)], 1) << i;
  }
}

/// The mean of the picture under a triangle around the center of each pixel of the output, summed over two
/// dimensions at once.
double under_a_triangle(const cv::Mat& in, ImageSize to, int x, int y, int channel) {
  const double stretch_x = std::max(1.0, static_cast<double>(in.cols) / to.width);
  const double stretch_y = std::max(1.0, static_cast<double>(in.rows) / to.height);
  const double center_x = (x + 0.5) * in.cols / to.width;
  const double center_y = (y + 0.5) * in.rows / to.height;
  double sum = 0;
  double weights = 0;
  for (int v = 0; v < in.rows; ++v) {
    for (int u = 0; u < in.cols; ++u) {
      const double weight = std::max(0.0, 1 - std::abs(u + 0.5 - center_x) / stretch_x) *
                            std::max(0.0, 1 - std::abs(v + 0.5 - center_y) / stretch_y);
      sum += weight * in.ptr(v)[u * in.channels() + channel];
      weights += weight;
    }
  }
  return sum / weights;
}

TEST(ResizeSmoothly, linear_weighs_pixels_by_a_triangle) {
  const cv::Mat in = photo(53, 38);
  for (const ImageSize to : {ImageSize{20, 31}, ImageSize{9, 7}, ImageSize{1, 1}, ImageSize{60, 10}}) {
    const cv::Mat out =
        resize_smoothly(in, whole(in), to, {0, 0, to.width, to.height}, Interpolation::kLinear);
    for (int y = 0; y < to.height; ++y)
      for (int x = 0; x < to.width; ++x)
        for (int c = 0; c < 3; ++c)
          ASSERT_NEAR(out.ptr(y)[x * 3 + c], under_a_triangle(in, to, x, y, c), 0.51) << to.str();
  }
}

TEST(ResizeSmoothly, area_equals_opencv) {
  for (const ImageSize to : {ImageSize{20, 31}, ImageSize{9, 7}, ImageSize{1, 1}}) {
    const cv::Mat in = photo(53, 38);
    cv::Mat expected;
    cv::resize(in, expected, {to.width, to.height}, 0, 0, cv::INTER_AREA);
    const cv::Mat out = resize_smoothly(in, whole(in), to, {0, 0, to.width, to.height}, Interpolation::kArea);
    EXPECT_LE(largest_difference(out, expected), 1) << to.str();
  }
}

TEST(ResizeSmoothly, of_a_part_needs_only_its_pixels) {
  const cv::Mat in = photo(53, 38);
  for (const Interpolation filter : {Interpolation::kLinear, Interpolation::kCubic, Interpolation::kArea}) {
    for (const ImageSize to : {ImageSize{20, 31}, ImageSize{9, 7}, ImageSize{60, 50}}) {
      const cv::Mat all = resize_smoothly(in, whole(in), to, {0, 0, to.width, to.height}, filter);
      for (const Region& part :
           {Region{0, 0, 3, 2}, Region{4, 3, 5, 4}, Region{to.width - 1, to.height - 1, 1, 1}}) {
        const Region needed = pixels_of(part, {53, 38}, to, filter);
        const cv::Mat piece = in(cv::Rect(needed.x, needed.y, needed.width, needed.height));
        const Box from{-static_cast<double>(needed.x), -static_cast<double>(needed.y), 53, 38};
        const cv::Mat out = resize_smoothly(piece, from, to, part, filter);
        EXPECT_LE(largest_difference(out, all(cv::Rect(part.x, part.y, part.width, part.height)).clone()), 1);
        EXPECT_LT(needed.width * needed.height, 53 * 38);
      }
    }
  }
}

TEST(ResizeSmoothly, stripes_that_are_too_fine_become_gray) {
  cv::Mat stripes(64, 64, CV_8UC1);
  for (int i = 0; i < 64 * 64; ++i) stripes.data[i] = i % 2 == 0 ? 0 : 255;
  for (const Interpolation filter : {Interpolation::kLinear, Interpolation::kCubic, Interpolation::kArea}) {
    const cv::Mat out = resize_smoothly(stripes, whole(stripes), {16, 16}, {0, 0, 16, 16}, filter);
    EXPECT_LE(cv::norm(out(cv::Rect(2, 2, 12, 12)), cv::NORM_INF), 128);
    EXPECT_NEAR(cv::mean(out(cv::Rect(2, 2, 12, 12)))[0], 127.5, 1);
  }
}

}  // namespace
}  // namespace tpack
