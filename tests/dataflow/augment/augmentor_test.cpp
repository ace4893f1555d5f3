#include "dataflow/augment/augmentor.h"

#include <opencv2/imgproc.hpp>

#include "dataflow/augment/augment_helpers.h"

namespace tpack {
namespace {

TEST(Transform, boxes_follow_their_corners) {
  Rng rng(1);
  const auto flip = augmentor("Flip", {{"prob", 1}})->draw({100, 50}, rng);
  std::vector<Box> boxes = {{10, 20, 30, 40}};
  flip->boxes(boxes);
  EXPECT_EQ(boxes[0].x0, 70);
  EXPECT_EQ(boxes[0].x1, 90);
  EXPECT_EQ(boxes[0].y0, 20);
}

TEST(Transform, masks_are_moved_but_never_mixed) {
  cv::Mat mask(10, 10, CV_8U, cv::Scalar(0));
  mask(cv::Rect(5, 0, 5, 10)).setTo(200);
  make_resize({10, 10}, {7, 7}, Interpolation::kLinear)->mask(mask);
  EXPECT_EQ(cv::countNonZero(mask == 200) + cv::countNonZero(mask == 0), 49);
  cv::Mat same = mask.clone();
  make_linear_colour(2, 10)->mask(same);
  EXPECT_EQ(largest_difference(same, mask), 0);
}

TEST(Transform, crops_and_resizes_move_points) {
  Points points = {{12, 8}};
  make_crop({10, 5, 20, 20})->points(points);
  EXPECT_EQ(points[0], cv::Point2f(2, 3));
  make_resize({20, 20}, {40, 10}, Interpolation::kLinear)->points(points);
  EXPECT_EQ(points[0], cv::Point2f(4, 1.5F));
}

TEST(Extent, is_one_number_or_two) {
  Diagnostics errors;
  const Check any;
  Reader reader("'shape' of augmentor Resize", any, errors);
  EXPECT_EQ(Codec<Extent>::parse(224, reader)->size(), (ImageSize{224, 224}));
  EXPECT_EQ(Codec<Extent>::parse(list({10, 20}), reader)->size(), (ImageSize{20, 10}));
  EXPECT_FALSE(Codec<Extent>::parse(list({10, 20, 30}), reader).has_value());
  EXPECT_FALSE(Codec<Extent>::parse(0, reader).has_value());
}

}  // namespace
}  // namespace tpack
