#include <opencv2/imgproc.hpp>

#include "dataflow/augment/augment_helpers.h"

namespace tpack {
namespace {

TEST(Resize, equals_opencv) {
  const cv::Mat pixels = photo(40, 30);
  cv::Mat expected;
  cv::resize(pixels, expected, {17, 25}, 0, 0, cv::INTER_LINEAR);
  const auto resize = augmentor("Resize", {{"shape", list({25, 17})}});
  EXPECT_EQ(largest_difference(applied(*resize, pixels), expected), 0);
  EXPECT_EQ(resize->shape({Shape::kUnknown, Shape::kUnknown, 3}), (Shape{25, 17, 3}));
}

}  // namespace
}  // namespace tpack
