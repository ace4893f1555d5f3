#include "image/augment/colors.h"

#include <cmath>
#include <functional>
#include <map>
#include <set>
#include <typeinfo>

#include <opencv2/core.hpp>
#include <opencv2/imgproc.hpp>

#include "golden/golden.h"
#include "image/augment/augment_helpers.h"
#include "support/live_fields.h"

namespace tpack {
namespace {

using Make = std::function<std::unique_ptr<Transform>(float)>;

const std::map<std::string, Make> kTransforms = {
    {"saturation", make_saturation},
    {"gray_contrast", make_gray_contrast},
    {"hue", make_hue_shift},
    {"sharpness", make_sharpness},
    {"auto_contrast", [](float) { return make_auto_contrast(); }},
    {"equalize", [](float) { return make_equalize(); }},
    {"solarize", make_solarize},
    {"posterize", [](float bits) { return make_posterize(static_cast<int>(bits)); }},
    {"gamma",
     [](float exponent) {
       const float g = 1 / exponent - 1;
       return drawn(*augmentor("Gamma", list({g, g})), {8, 8});
     }},
    {"invert", [](float) { return make_invert(); }}};

cv::Mat image_of(const golden::Json& file, const std::string& name) {
  const Tensor t = golden::draw("augment/" + name, file.at("images").at(name), DType::kFloat32);
  return cv::Mat(static_cast<int>(t.shape()[0]), static_cast<int>(t.shape()[1]),
                 CV_8UC(static_cast<int>(t.shape()[2])), t.raw())
      .clone();
}

/// Rounded values are at most half a level away from the formula; floats and 16 bits are nearer.
TEST(Colors, are_those_of_the_formulas_of_pillow_and_torchvision) {
  const golden::Json file = golden::read("augmentors.json");
  std::set<std::string> seen;
  for (const golden::Json& one : file.at("cases")) {
    const std::string name = one.at("transform");
    const cv::Mat image = image_of(file, one.at("image"));
    seen.insert(name);
    const auto values = one.at("values").get<Numbers>();
    for (const auto& [depth, unit, tolerance] :
         {std::tuple(CV_8U, 1.0, 0.501), std::tuple(CV_16U, 257.0, 0.01), std::tuple(CV_32F, 1.0, 0.01)}) {
      SCOPED_TRACE(name + " of " + one.at("image").get<std::string>() + ", depth " + std::to_string(depth));
      cv::Mat m;
      image.convertTo(m, depth, unit);
      kTransforms.at(name)(one.at("argument"))->image(m);
      ASSERT_EQ(m.depth(), depth);
      m.convertTo(m, CV_64F, 1 / unit);
      m = cv::max(cv::min(m.reshape(1), 255), 0);  // floats are not clamped
      ASSERT_EQ(m.total(), values.size());
      int wrong = 0;
      for (size_t i = 0; i < values.size(); ++i)
        wrong += std::abs(m.ptr<double>()[i] - values[i]) > tolerance ? 1 : 0;
      EXPECT_EQ(wrong, 0);
    }
  }
  EXPECT_EQ(seen.size(), kTransforms.size());
}

TEST(Colors, leave_a_fourth_channel_and_gray_images) {
  const cv::Mat pixel(1, 1, CV_8UC4, cv::Scalar(200, 100, 50, 77));
  for (const auto& transform :
       {make_saturation(0.2F), make_gray_contrast(0.5F), make_hue_shift(90), make_rgb_offset({10, 20, 30})}) {
    cv::Mat out = pixel.clone();
    transform->image(out);
    EXPECT_EQ(out.at<cv::Vec4b>(0, 0)[3], 77);
  }
  for (const auto& transform : {make_saturation(0.2F), make_hue_shift(90), make_rgb_offset({10, 20, 30})}) {
    cv::Mat gray(1, 1, CV_8UC1, cv::Scalar(90));
    transform->image(gray);
    EXPECT_EQ(gray.at<uint8_t>(0, 0), 90);
  }
}

/// 10,000 draws, of the color that each adds to black: within 5 standard errors of the mean and 4 % of the
/// deviation.
TEST(Lighting, adds_along_the_directions_with_the_given_deviations) {
  const auto lighting =
      augmentor("Lighting", {{"stddev", 0.5},
                             {"eigenvalues", list({40, 20, 8})},
                             {"eigenvectors", list({list({1, 0, 0}), list({0, 1, 0}), list({0, 0, 1})})}});
  cv::Mat all(1, 10000, CV_32FC3);
  for (int i = 0; i < all.cols; ++i) {
    cv::Mat pixel(1, 1, CV_32FC3, cv::Scalar());
    drawn(*lighting, {1, 1}, static_cast<uint64_t>(i))->image(pixel);
    all.at<cv::Vec3f>(0, i) = pixel.at<cv::Vec3f>(0, 0);
  }
  cv::Scalar mean;
  cv::Scalar deviation;
  cv::meanStdDev(all, mean, deviation);
  for (const auto& [c, expected] : {std::pair(0, 20.0), std::pair(1, 10.0), std::pair(2, 4.0)}) {
    EXPECT_NEAR(mean[c], 0, 5 * expected / 100);
    EXPECT_NEAR(deviation[c], expected, 0.04 * expected);
  }
  EXPECT_THROW(augmentor("Lighting", {{"eigenvalues", list({1, 2})}}), ConfigError);
}

/// The factors of an augmentor that multiplies, in 10,000 draws.
struct Factors {
  double least = 1e9;
  double most = -1e9;
  double mean = 0;
};
Factors factors_of(const Augmentor& a, const cv::Vec3f& color,
                   const std::function<double(cv::Vec3f)>& factor) {
  constexpr int kDraws = 10000;
  Factors all;
  for (int i = 0; i < kDraws; ++i) {
    cv::Mat pixel(1, 1, CV_32FC3);
    pixel.at<cv::Vec3f>(0, 0) = color;
    const double drawn = factor(applied(a, pixel, static_cast<uint64_t>(i)).at<cv::Vec3f>(0, 0));
    all.least = std::min(all.least, drawn);
    all.most = std::max(all.most, drawn);
    all.mean += drawn / kDraws;
  }
  return all;
}

/// A uniform draw of width w has a mean within 0.015 w (5 standard errors) and comes within 0.01 w of its
/// ends.
void expect_uniform(const Factors& drawn, double low, double high) {
  const double width = high - low;
  EXPECT_NEAR(drawn.mean, (low + high) / 2, 0.015 * width);
  EXPECT_NEAR(drawn.least, low, 0.01 * width);
  EXPECT_NEAR(drawn.most, high, 0.01 * width);
  EXPECT_GE(drawn.least, low - 1e-4 * width);
  EXPECT_LE(drawn.most, high + 1e-4 * width);
}

TEST(RandomColors, are_uniform_over_their_ranges) {
  const auto red = [](cv::Vec3f p) { return p[0] / 100.0; };
  const auto distance = [](cv::Vec3f p) { return (p[0] - p[1]) / 60.0; };
  const cv::Vec3f color(100, 40, 70);
  expect_uniform(factors_of(*augmentor("BrightnessScale", list({0.6, 1.4})), color, red), 0.6, 1.4);
  expect_uniform(factors_of(*augmentor("Saturation", 0.3), color, distance), 0.7, 1.3);
  expect_uniform(factors_of(*augmentor("ColorJitter", {{"brightness", 0.4}}), color, red), 0.6, 1.4);
  expect_uniform(factors_of(*augmentor("ColorJitter", {{"brightness", 1.5}}), color, red), 0, 2.5);
  expect_uniform(factors_of(*augmentor("ColorJitter", {{"saturation", 0.2}}), color, distance), 0.8, 1.2);
  // Red becomes (255, green, 0) for hues up to 60 degrees, (255, 0, blue) for those below 0.
  const auto hue = [](cv::Vec3f p) { return 60.0 * (p[1] - p[2]) / 255; };
  expect_uniform(factors_of(*augmentor("Hue", 18), {255, 0, 0}, hue), -18, 18);
  expect_uniform(factors_of(*augmentor("ColorJitter", {{"hue", 0.1}}), {255, 0, 0}, hue), -36, 36);
  const auto g = [](cv::Vec3f p) { return 1 / std::log2(255.0 / p[0]) - 1; };  // of 255/2
  expect_uniform(factors_of(*augmentor("Gamma", list({-0.3, 0.3})), {127.5, 127.5, 127.5}, g), -0.3, 0.3);
}

TEST(ColorJitter, runs_its_parts_in_every_order) {
  const auto jitter = augmentor("ColorJitter", {{"brightness", 0.4}, {"contrast", 0.4}, {"saturation", 0.4}});
  std::set<Texts> orders;
  for (uint64_t seed = 0; seed < 200; ++seed) {
    const auto transform = drawn(*jitter, {9, 9}, seed);
    ASSERT_EQ(transform->parts().size(), 3);
    Texts names;
    for (const auto& part : transform->parts()) {
      const Transform& one = *part;
      names.emplace_back(typeid(one).name());
    }
    orders.insert(names);
  }
  EXPECT_EQ(orders.size(), 6);
  EXPECT_THROW(augmentor("ColorJitter", {}), ConfigError);
}

TEST(RandomGrayscale, keeps_three_channels_and_its_probability) {
  const auto gray = augmentor("RandomGrayscale", 0.2);
  const cv::Mat pixel(1, 1, CV_8UC3, cv::Scalar(200, 100, 50));
  int count = 0;
  for (uint64_t seed = 0; seed < 10000; ++seed) {
    const auto p = applied(*gray, pixel, seed).at<cv::Vec3b>(0, 0);
    if (p[0] == p[1]) ++count;
  }
  EXPECT_NEAR(count, 2000, 200);  // 5 standard deviations
}

const live::Fields kBrightnessScale("augmentor", "BrightnessScale",
                                    {.values = {{"factor_range", "[0.5, 1]"}}});
const live::Fields kSharpness("augmentor", "Sharpness", {.values = {{"factor_range", "[0.5, 1]"}}});

TEST(Brightness, adds_one_number_within_the_range) {
  const cv::Mat pixels(4, 4, CV_8UC3, cv::Scalar::all(100));
  double least = 255;
  double most = 0;
  for (uint64_t seed = 0; seed < 500; ++seed) {
    const cv::Mat out = applied(*augmentor("Brightness", 30), pixels, seed);
    double low = 0;
    double high = 0;
    cv::minMaxLoc(out.reshape(1), &low, &high);
    EXPECT_EQ(low, high);
    least = std::min(least, low);
    most = std::max(most, high);
  }
  EXPECT_NEAR(least, 70, 2);
  EXPECT_NEAR(most, 130, 2);
}

TEST(Brightness, stays_within_0_and_255) {
  const cv::Mat white(4, 4, CV_8UC3, cv::Scalar::all(250));
  for (uint64_t seed = 0; seed < 50; ++seed) {
    EXPECT_GE(applied(*augmentor("Brightness", 100), white, seed).at<cv::Vec3b>(0, 0)[0], 150);
  }
}

TEST(Contrast, stretches_around_the_mean_of_each_channel) {
  cv::Mat pixels(1, 2, CV_8UC3);
  pixels.at<cv::Vec3b>(0, 0) = {90, 10, 0};
  pixels.at<cv::Vec3b>(0, 1) = {110, 30, 255};
  const cv::Mat out = applied(*augmentor("Contrast", list({2, 2})), pixels);
  EXPECT_EQ(out.at<cv::Vec3b>(0, 0), cv::Vec3b(80, 0, 0));
  EXPECT_EQ(out.at<cv::Vec3b>(0, 1), cv::Vec3b(120, 40, 255));
}

TEST(Contrast, rejects_a_range_that_is_none) {
  EXPECT_THROW(augmentor("Contrast", list({2, 1})), ConfigError);
}

const live::Fields kContrast("augmentor", "Contrast", {.values = {{"factor_range", "[0.5, 1]"}}});

TEST(ColorSpace, converts_from_rgb) {
  cv::Mat red(1, 1, CV_8UC3, cv::Scalar(255, 0, 0));
  EXPECT_EQ(applied(*augmentor("ColorSpace", "bgr"), red).at<cv::Vec3b>(0, 0), cv::Vec3b(0, 0, 255));
  EXPECT_EQ(applied(*augmentor("ColorSpace", "hsv"), red).at<cv::Vec3b>(0, 0), cv::Vec3b(0, 255, 255));
  const auto gray = augmentor("Grayscale", {});
  EXPECT_EQ(applied(*gray, red).at<uint8_t>(0, 0), 76);  // 0.299 * 255
  EXPECT_EQ(gray->shape({5, 6, 3}), (Shape{5, 6, 1}));
}

TEST(ColorSpace, leaves_gray_images_as_they_are) {
  const cv::Mat gray(3, 3, CV_8U, cv::Scalar(9));
  EXPECT_EQ(largest_difference(applied(*augmentor("Grayscale", {}), gray), gray), 0);
}

}  // namespace
}  // namespace tpack
