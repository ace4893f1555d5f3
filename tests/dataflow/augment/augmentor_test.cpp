#include "dataflow/augment/augmentor.h"

#include <gmock/gmock.h>
#include <opencv2/imgproc.hpp>

#include "dataflow/augment/augment_helpers.h"
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
    const std::string example = info->example == nullptr ? "" : info->example();
    const auto made =
        Registry<Augmentor>::make_item(parse_yaml(example.empty() ? info->name : example, "augmentor.yaml"));
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
    const cv::Rect middle((image.cols - center.cols) / 2, (image.rows - center.rows) / 2, center.cols,
                          center.rows);
    EXPECT_TRUE(are_equal(center, image(middle)));
  }
  EXPECT_GE(drawing, 6);
}

/// Augmentors do the same to images of 16 bits, up to rounding.
TEST(Augmentors, do_the_same_to_images_of_16_bits) {
  const cv::Mat pixels = photo(320, 240);
  cv::Mat deep;
  pixels.convertTo(deep, CV_16U, 257);
  int augmentors = 0;
  for (const ComponentInfo* info : Registry<Augmentor>::table().list()) {
    const std::string& name = info->name;
    if (name == "Slip") continue;  // of a test, gives what no image is
    std::string text = info->example();
    if (text.empty()) text = name;
    if (name == "ColorSpace") text = "ColorSpace: gray";  // hsv is for 8 bits alone
    const auto made = Registry<Augmentor>::make_item(parse_yaml(text, "augmentor.yaml"));
    cv::Mat expected = applied(*made, pixels, 3);
    const cv::Mat out = applied(*made, deep, 3);
    ASSERT_EQ(out.type(), CV_MAKETYPE(CV_16U, expected.channels())) << name;
    expected.convertTo(expected, CV_16U, 257);
    EXPECT_LE(largest_difference(out, expected), 257) << name;
    ++augmentors;
  }
  EXPECT_GE(augmentors, 10);
}

/// Runs a check of each augmentor with its example.
void for_each_augmentor(const std::function<void(const Augmentor&)>& check) {
  for (const ComponentInfo* info : Registry<Augmentor>::table().list()) {
    if (info->name == "Slip") continue;  // of a test, gives what no image is
    const std::string example = info->example();
    SCOPED_TRACE(info->name);
    check(*Registry<Augmentor>::make_item(
        parse_yaml(example.empty() ? info->name : example, "augmentor.yaml")));
  }
}

/// A disk of a gray image, whose mask, center and box are what a transform makes of them.
TEST(Augmentors, keep_image_mask_points_and_boxes_together) {
  constexpr int kRadius = 9;
  for_each_augmentor([](const Augmentor& augmentor) {
    int seen = 0;
    for (uint64_t seed = 1; seed <= 40; ++seed) {
      const ImageSize size{340, 300};
      const cv::Point middle(170 + static_cast<int>(seed) - 20, 150 - static_cast<int>(seed) + 20);
      cv::Mat image(size.height, size.width, CV_8UC1, cv::Scalar(60));
      cv::Mat mask = cv::Mat::zeros(size.height, size.width, CV_8UC1);
      for (auto& [m, value] : {std::pair<cv::Mat&, int>(image, 250), std::pair<cv::Mat&, int>(mask, 7)})
        cv::circle(m, middle, kRadius, cv::Scalar(value), cv::FILLED);
      Rng rng(seed);
      const auto transform = augmentor.draw(size, rng);
      if (transform == nullptr) continue;
      transform->image(image);
      transform->mask(mask);
      ASSERT_EQ(image.size(), mask.size()) << "the mask has another size";
      ASSERT_EQ(transform->size(size), (ImageSize{mask.cols, mask.rows})) << "size() says another size";
      EXPECT_TRUE(cv::countNonZero((mask != 0) & (mask != 7)) == 0) << "numbers of the mask are mixed";
      const Point center = transform->point({middle.x + 0.5, middle.y + 0.5}, size);
      const Box box = transform->box(
          {middle.x - kRadius + 0.0, middle.y - kRadius + 0.0, 2.0 * kRadius + 1, 2.0 * kRadius + 1}, size);
      const cv::Rect around = cv::boundingRect(mask);
      if (around.width == 0) continue;  // cut away
      ++seen;
      const double tolerance = 1.5 + mask.cols / 340.0;  // pixels that the nearest ones are off
      EXPECT_NEAR(box.x, around.x, tolerance);
      EXPECT_NEAR(box.y, around.y, tolerance);
      EXPECT_NEAR(box.x + box.width, around.x + around.width, tolerance);
      EXPECT_NEAR(box.y + box.height, around.y + around.height, tolerance);
      const bool is_whole =
          around.x > 0 && around.y > 0 && around.br().x < mask.cols && around.br().y < mask.rows;
      if (!is_whole) continue;
      EXPECT_NEAR(center.x, around.x + around.width / 2.0, tolerance);
      EXPECT_NEAR(center.y, around.y + around.height / 2.0, tolerance);
      // What is brighter inside of the mask than outside is the disk: it is where the mask is.
      EXPECT_GT(cv::mean(image, mask)[0], cv::mean(image, mask == 0)[0]);
    }
    EXPECT_GT(seen, 5);
  });
}

TEST(Augmentors, say_the_shape_of_what_they_give_of_any_image) {
  for_each_augmentor([](const Augmentor& augmentor) {
    int taken = 0;
    for (const int type : {CV_8UC1, CV_8UC3, CV_16UC2, CV_16UC4, CV_32FC1, CV_32FC3, CV_32FC4}) {
      cv::Mat image(231, 275, type);
      cv::randu(image, cv::Scalar::all(0), cv::Scalar::all(255));
      const Shape in{image.rows, image.cols, image.channels()};
      for (uint64_t seed = 1; seed <= 6; ++seed) {
        cv::Mat out;
        try {
          out = applied(augmentor, image, seed);
        } catch (const DataError&) {
          continue;  // such as colors of another number of channels
        }
        ++taken;
        EXPECT_EQ(out.depth(), image.depth());
        const Shape found{out.rows, out.cols, out.channels()};
        const Shape said = augmentor.shape(in);
        for (int axis = 0; axis < 3; ++axis) {
          EXPECT_TRUE(said[axis] == found[axis] || said[axis] == Shape::kUnknown)
              << "said " << said.str() << ", gave " << found.str() << " of " << in.str();
        }
      }
    }
    EXPECT_GT(taken, 0);
  });
}

TEST(Augmentors, have_no_field_without_effect) {
  EXPECT_THAT(live::dead_fields(Registry<Augmentor>::table(), {pictures}), testing::IsEmpty());
}

}  // namespace
}  // namespace tpack
