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

TEST(Augmentors, have_no_field_without_effect) {
  EXPECT_THAT(live::dead_fields(Registry<Augmentor>::table(), {pictures}), testing::IsEmpty());
}

}  // namespace
}  // namespace tpack
