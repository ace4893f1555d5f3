#include "image/augment/augmentor.h"

#include <cmath>
#include <map>
#include <optional>
#include <set>

#include <gmock/gmock-more-matchers.h>
#include <opencv2/core.hpp>
#include <opencv2/imgproc.hpp>

#include "image/augment/augment_helpers.h"
#include "support/live_fields.h"

namespace tpack {
namespace {

TEST(Extent, is_one_number_or_two) {
  Diagnostics errors;
  const Check any;
  Reader reader("'shape' of augmentor Resize", any, errors);
  EXPECT_EQ(Codec<Extent>::parse(224, reader)->size(), (ImageSize{224, 224}));
  EXPECT_EQ(Codec<Extent>::parse(list({10, 20}), reader)->size(), (ImageSize{20, 10}));
  EXPECT_FALSE(Codec<Extent>::parse(list({10, 20, 30}), reader).has_value());
  EXPECT_FALSE(Codec<Extent>::parse(0, reader).has_value());
}

/// The augmentor of the example of a component.
std::unique_ptr<Augmentor> example_of(const ComponentInfo& info) {
  const std::string example = info.example();
  return Registry<Augmentor>::make_item(parse_yaml(example.empty() ? info.name : example, "augmentor.yaml"));
}

/// The results of ten draws of an augmentor on an image, byte by byte; or why it rejects the image.
std::string pictures(const std::string& item) {
  const auto made = Registry<Augmentor>::make_item(parse_yaml(item, "augmentor.yaml"));
  const cv::Mat image = photo(320, 240);
  std::string text;
  try {
    for (uint64_t seed = 0; seed < 10; ++seed) {
      const cv::Mat out = applied(*made, image, seed);
      text += std::to_string(out.rows) + " " + std::to_string(out.type()) + " ";
      text.append(reinterpret_cast<const char*>(out.data), out.total() * out.elemSize());
    }
  } catch (const DataError& error) {
    text += error.what();
  }
  return text;
}

bool are_equal(const cv::Mat& a, const cv::Mat& b) {
  return a.size() == b.size() && a.type() == b.type() && largest_difference(a, b) == 0;
}

/// Of those that draw: pixels as they are, from the middle of the image, since nothing may be random there.
TEST(Augmentors, that_draw_have_a_center) {
  const cv::Mat image = photo(320, 240);
  int drawing = 0;
  for (const ComponentInfo* info : Registry<Augmentor>::table().list()) {
    if (info->file.find("tests/") != std::string::npos) continue;
    SCOPED_TRACE(info->name);
    const auto made = example_of(*info);
    bool draws = false;
    for (uint64_t seed = 2; seed < 30; ++seed)
      draws = draws || !are_equal(applied(*made, image, seed), applied(*made, image, 1));
    cv::Mat center = image.clone();
    if (const auto transform = made->center({image.cols, image.rows})) transform->image(center);
    if (!draws) {
      EXPECT_TRUE(are_equal(center, applied(*made, image)));
      continue;
    }
    ++drawing;
    if (info->name == "RandomResizedCrop") {  // its test is elsewhere
      EXPECT_EQ(center.size(), applied(*made, image).size());
      continue;
    }
    if (info->name == "RandomPaste") {  // like CenterPaste
      const cv::Rect inside((center.cols - image.cols) / 2, (center.rows - image.rows) / 2, image.cols,
                            image.rows);
      EXPECT_TRUE(are_equal(center(inside), image));
      continue;
    }
    const cv::Rect middle((image.cols - center.cols) / 2, (image.rows - center.rows) / 2, center.cols,
                          center.rows);
    EXPECT_TRUE(are_equal(center, image(middle)));
  }
  EXPECT_GE(drawing, 6);
}

/// Augmentors do the same to images of 16 bits, up to rounding: by at most one of 255 levels, or by three if
/// one step stretches what another one has rounded.
TEST(Augmentors, do_the_same_to_images_of_16_bits) {
  const cv::Mat pixels = photo(320, 240);
  cv::Mat deep;
  pixels.convertTo(deep, CV_16U, 257);
  int augmentors = 0;
  for (const ComponentInfo* info : Registry<Augmentor>::table().list()) {
    const std::string& name = info->name;
    if (name == "Slip") continue;  // of a test, gives what no image is
    const auto made = name == "ColorSpace" ? augmentor("ColorSpace", "gray")
                                           : example_of(*info);  // hsv is for 8 bits alone
    cv::Mat expected = applied(*made, pixels, 3);
    const cv::Mat out = applied(*made, deep, 3);
    ASSERT_EQ(out.type(), CV_MAKETYPE(CV_16U, expected.channels())) << name;
    expected.convertTo(expected, CV_16U, 257);
    const bool has_steps = name == "ColorJitter" || name == "AutoAugment" || name == "RandAugment";
    EXPECT_LE(largest_difference(out, expected), has_steps ? 3 * 257 : 257) << name;
    ++augmentors;
  }
  EXPECT_GE(augmentors, 10);
}

/// Where the square is in an image, by how much its pixels near `box` look like those inside of the mask.
std::optional<Point> center_in_image(const cv::Mat& image, const cv::Mat& mask, const cv::Rect& box) {
  constexpr int kMargin = 6;
  const cv::Rect near(box.x - kMargin, box.y - kMargin, box.width + 2 * kMargin, box.height + 2 * kMargin);
  if ((near & cv::Rect(0, 0, image.cols, image.rows)) != near) return std::nullopt;
  const double inside = cv::mean(image(near), mask(near))[0];
  const double outside = cv::mean(image(near), mask(near) == 0)[0];
  if (std::abs(inside - outside) < 5) return std::nullopt;  // two operations may make one color of both
  cv::Mat share;
  image(near).convertTo(share, CV_64F, 1 / (inside - outside), -outside / (inside - outside));
  share = cv::max(cv::min(share, 1), 0);
  const cv::Moments moments = cv::moments(share);
  return Point{near.x + 0.5 + moments.m10 / moments.m00, near.y + 0.5 + moments.m01 / moments.m00};
}

/// A bright square of an image, whose mask, center and box are what a transform makes of them.
/// `found`: how often the square was found in the image.
void expect_together(const Augmentor& augmentor, uint64_t seed, bool hides, int& seen, int& found) {
  constexpr int kReach = 9;
  const ImageSize size{340, 300};
  const cv::Point middle(170 + static_cast<int>(seed) - 20, 150 - static_cast<int>(seed) + 20);
  const cv::Rect square(middle.x - kReach, middle.y - kReach, 2 * kReach + 1, 2 * kReach + 1);
  cv::Mat image(size.height, size.width, CV_8UC1, cv::Scalar(60));
  cv::Mat mask = cv::Mat::zeros(size.height, size.width, CV_8UC1);
  image(square).setTo(250);
  mask(square).setTo(7);
  const auto transform = drawn(augmentor, size, seed);
  if (transform == nullptr) return;
  transform->image(image);
  transform->mask(mask);
  ASSERT_EQ(image.size(), mask.size()) << "the mask has another size";
  ASSERT_EQ(transform->size(size), (ImageSize{mask.cols, mask.rows})) << "size() says another size";
  EXPECT_TRUE(cv::countNonZero((mask != 0) & (mask != 7)) == 0) << "numbers of the mask are mixed";
  const Point center = transform->point({middle.x + 0.5, middle.y + 0.5}, size);
  const Box box =
      transform->box({square.x + 0.0, square.y + 0.0, square.width + 0.0, square.height + 0.0}, size);
  const cv::Rect around = cv::boundingRect(mask);
  if (around.width == 0) return;  // cut away
  ++seen;
  const double scale = std::max({1.0, mask.cols / 340.0, mask.rows / 300.0});
  const double tolerance = 1 + scale;  // of the sharp corners of a square that is turned
  EXPECT_NEAR(box.x, around.x, tolerance);
  EXPECT_NEAR(box.y, around.y, tolerance);
  EXPECT_NEAR(box.x + box.width, around.x + around.width, tolerance);
  EXPECT_NEAR(box.y + box.height, around.y + around.height, tolerance);
  const bool is_whole =
      around.x > 0 && around.y > 0 && around.br().x < mask.cols && around.br().y < mask.rows;
  if (!is_whole || !transform->keeps_lines()) return;
  const cv::Moments moments = cv::moments(mask, true);
  EXPECT_NEAR(center.x, 0.5 + moments.m10 / moments.m00, 0.5 * scale);
  EXPECT_NEAR(center.y, 0.5 + moments.m01 / moments.m00, 0.5 * scale);
  const auto place = hides ? std::nullopt : center_in_image(image, mask, around);
  if (place) {
    EXPECT_NEAR(center.x, place->x, 0.5 * scale);
    EXPECT_NEAR(center.y, place->y, 0.5 * scale);
    ++found;
  }
}

TEST(Augmentors, keep_image_mask_points_and_boxes_together) {
  const std::set<std::string> hiding = {"GridMask", "RandomCutout", "RandomErasing"};  // a part of the square
  for (const ComponentInfo* info : Registry<Augmentor>::table().list()) {
    if (info->name == "Slip") continue;  // of a test, gives what no image is
    SCOPED_TRACE(info->name);
    const auto made = example_of(*info);
    int seen = 0;
    int found = 0;
    for (uint64_t seed = 1; seed <= 40; ++seed) {
      SCOPED_TRACE(seed);
      expect_together(*made, seed, hiding.contains(info->name), seen, found);
    }
    EXPECT_GT(seen, 5);
    if (info->name != "ElasticDeform" && !hiding.contains(info->name)) {
      EXPECT_GT(found, 5);
    }
  }
}

/// Pixels whose values are their places, so that each point of the result says where it comes from.
cv::Mat places(ImageSize size) {
  cv::Mat all(size.height, size.width, CV_32FC3);
  for (int y = 0; y < all.rows; ++y) {
    for (int x = 0; x < all.cols; ++x)
      all.at<cv::Vec3f>(y, x) = {static_cast<float>(x) + 0.5F, static_cast<float>(y) + 0.5F, 0};
  }
  return all;
}

TEST(Augmentors, that_move_pixels_move_points_with_them) {
  const ImageSize size{340, 300};
  for (const char* name :
       {"Affine", "CenterCrop", "CenterPaste", "ElasticDeform", "Flip", "Perspective", "RandomCrop",
        "RandomCropRandomShape", "RandomPaste", "RandomResize", "RandomResizedCrop", "Resize",
        "ResizeShortestEdge", "Rotation", "RotationAndCropValid", "Shift", "Transpose"}) {
    SCOPED_TRACE(name);
    const auto made = example_of(*Registry<Augmentor>::table().find(name));
    int seen = 0;
    for (uint64_t seed = 1; seed <= 10; ++seed) {
      const auto transform = drawn(*made, size, seed);
      if (transform == nullptr) continue;
      cv::Mat out = places(size);
      transform->image(out);
      for (double y = 40; y < size.height - 40; y += 13.25) {
        for (double x = 40; x < size.width - 40; x += 11.75) {
          const Point p = transform->point({x, y}, size);
          if (p.x < 2 || p.y < 2 || p.x > out.cols - 2 || p.y > out.rows - 2) continue;
          cv::Mat found;
          cv::getRectSubPix(out, {1, 1},
                            cv::Point2f(static_cast<float>(p.x - 0.5), static_cast<float>(p.y - 0.5)), found);
          EXPECT_NEAR(found.at<cv::Vec3f>(0, 0)[0], x, 0.1);
          EXPECT_NEAR(found.at<cv::Vec3f>(0, 0)[1], y, 0.1);
          ++seen;
        }
      }
    }
    EXPECT_GT(seen, 300);
  }
}

TEST(Augmentors, say_the_shape_of_what_they_give_of_any_image) {
  for (const ComponentInfo* info : Registry<Augmentor>::table().list()) {
    if (info->name == "Slip") continue;  // of a test, gives what no image is
    SCOPED_TRACE(info->name);
    const auto made = example_of(*info);
    int taken = 0;
    for (const int type : {CV_8UC1, CV_8UC3, CV_16UC2, CV_16UC4, CV_32FC1, CV_32FC3, CV_32FC4}) {
      cv::Mat image(231, 275, type);
      cv::randu(image, cv::Scalar::all(0), cv::Scalar::all(255));
      const Shape in{image.rows, image.cols, image.channels()};
      const auto shorter = made->shorter_side(std::min(image.rows, image.cols));
      for (uint64_t seed = 1; seed <= 6; ++seed) {
        cv::Mat out;
        try {
          out = applied(*made, image, seed);
        } catch (const DataError&) {
          continue;  // such as colors of another number of channels
        }
        ++taken;
        EXPECT_EQ(out.depth(), image.depth());
        const Shape found{out.rows, out.cols, out.channels()};
        const Shape said = made->shape(in);
        for (int axis = 0; axis < 3; ++axis) {
          EXPECT_TRUE(said[axis] == found[axis] || said[axis] == Shape::kUnknown)
              << "said " << said.str() << ", gave " << found.str() << " of " << in.str();
        }
        if (shorter) {
          EXPECT_EQ(*shorter, std::min(out.rows, out.cols)) << "gave " << found.str() << " of " << in.str();
        }
      }
    }
    EXPECT_GT(taken, 0);
  }
}

TEST(Augmentors, have_no_field_without_effect) {
  EXPECT_THAT(live::dead_fields(Registry<Augmentor>::table(), {pictures}), testing::IsEmpty());
}

/// In 10,000 draws; bounds are four standard deviations.
TEST(Augmentors, happen_as_often_as_asked) {
  const std::vector<std::tuple<std::string, ConfigNode, double>> rows = {
      {"Flip", {{"prob", 0.3}}, 0.3},
      {"RandomErasing", {{"prob", 0.3}}, 0.3},
      {"RandomApplyAug", {{"aug", item("CenterCrop", 4)}, {"prob", 0.25}}, 0.25}};
  for (const auto& [name, params, share] : rows) {
    const auto made = augmentor(name, params);
    int runs = 0;
    for (uint64_t seed = 0; seed < 10000; ++seed) runs += drawn(*made, {100, 100}, seed) != nullptr ? 1 : 0;
    EXPECT_NEAR(runs, 10000 * share, 4 * std::sqrt(10000 * share * (1 - share))) << name;
  }
}

TEST(RandomApplyAug, knows_only_the_sizes_that_do_not_depend_on_it) {
  const auto aug = augmentor("RandomApplyAug", {{"aug", item("CenterCrop", list({4, 8}))}});
  EXPECT_EQ(aug->shape({8, 8, 3}).str(), "[?, 8, 3]");
}

TEST(RandomApplyAug, rejects_what_the_other_rejects_if_it_ever_runs) {
  const auto sometimes = augmentor("RandomApplyAug", {{"aug", item("CenterCrop", 64)}, {"prob", 0.1}});
  EXPECT_NE(error_of([&] { sometimes->shorter_side(60); }), "no error");
  EXPECT_EQ(sometimes->shorter_side(64), 64);
  EXPECT_EQ(sometimes->shorter_side(100), std::nullopt);
  const auto never = augmentor("RandomApplyAug", {{"aug", item("CenterCrop", 64)}, {"prob", 0.0}});
  EXPECT_EQ(never->shorter_side(60), 60);
}

TEST(RandomChooseAug, chooses_by_weight) {
  const auto augs = list({item("CenterCrop", 4), item("CenterCrop", 5), item("CenterCrop", 6)});
  const auto chosen = augmentor("RandomChooseAug", {{"augs", augs}, {"weights", list({3, 0, 1})}});
  std::map<int, int> sides;
  for (uint64_t seed = 0; seed < 10000; ++seed) {
    ++sides[drawn(*chosen, {9, 9}, seed)->size({9, 9}).width];
  }
  EXPECT_NEAR(sides[4], 7500, 217);  // 5 standard deviations
  EXPECT_EQ(sides[5], 0);
  EXPECT_NEAR(sides[6], 2500, 217);
  EXPECT_EQ(chosen->center({9, 9})->size({9, 9}), (ImageSize{4, 4}));
  EXPECT_EQ(chosen->shape({9, 9, 3}), (Shape{Shape::kUnknown, Shape::kUnknown, 3}));
  EXPECT_EQ(chosen->shorter_side(9), std::nullopt);
  const auto same = augmentor("RandomChooseAug", list({item("CenterCrop", 4), item("RandomCrop", 4)}));
  EXPECT_EQ(same->shape({9, 9, 3}), (Shape{4, 4, 3}));
  EXPECT_EQ(same->shorter_side(9), 4);
  EXPECT_THROW(augmentor("RandomChooseAug", {{"augs", augs}, {"weights", list({1})}}), ConfigError);
  EXPECT_THROW(augmentor("RandomChooseAug", {{"augs", augs}, {"weights", list({0, 0, 0})}}), ConfigError);
  EXPECT_THROW(augmentor("RandomChooseAug", list({})), ConfigError);
}

TEST(RandomOrderAug, draws_every_order) {
  const auto made =
      augmentor("RandomOrderAug", list({item("Invert", {}), item("BrightnessScale", list({0.5, 0.5}))}));
  const cv::Mat pixel(1, 1, CV_8UC1, cv::Scalar(100));
  std::map<int, int> values;
  for (uint64_t seed = 0; seed < 10000; ++seed) ++values[applied(*made, pixel, seed).at<uint8_t>(0, 0)];
  ASSERT_EQ(values.size(), 2);
  EXPECT_NEAR(values[78], 5000, 250);   // (255 - 100) / 2; 5 standard deviations
  EXPECT_NEAR(values[205], 5000, 250);  // 255 - 100 / 2
  EXPECT_EQ(made->shape({9, 9, 3}), (Shape{9, 9, 3}));
  const auto crops = augmentor("RandomOrderAug", list({item("RandomCrop", 4), item("Invert", {})}));
  EXPECT_THROW(crops->shape({9, 9, 3}), ConfigError);
  EXPECT_THROW(augmentor("RandomOrderAug", list({item("Invert", {})})), ConfigError);
}

}  // namespace
}  // namespace tpack
