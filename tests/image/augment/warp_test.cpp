#include "image/augment/warp.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <gmock/gmock-matchers.h>
#include <opencv2/imgproc.hpp>

#include "image/augment/augment_helpers.h"

namespace tpack {
namespace {

TEST(Warp, of_a_quarter_turn_moves_whole_pixels) {
  const cv::Mat image = photo(60, 60);
  cv::Mat turned = image.clone();
  make_warp(around({30, 30}, rotation(90)), {})->image(turned);
  cv::Mat expected;
  cv::rotate(image, expected, cv::ROTATE_90_COUNTERCLOCKWISE);
  EXPECT_EQ(largest_difference(turned, expected), 0);
}

/// What is new at the edges, at (0, 0) of an image that moved by 5 pixels to the right.
TEST(Warp, fills_what_is_new) {
  const cv::Mat image = photo(40, 30);
  const auto corner = [&](const Border& border, const cv::Mat& m) {
    cv::Mat out = m.clone();
    make_warp(translation(5, 0), border)->image(out);
    EXPECT_EQ(largest_difference(out.colRange(5, 40), m.colRange(0, 35)), 0);
    return out;
  };
  EXPECT_EQ(corner({}, image).at<cv::Vec3b>(0, 0), image.at<cv::Vec3b>(0, 0));
  EXPECT_EQ(corner({Border::Kind::kReflect, {}}, image).at<cv::Vec3b>(0, 0), image.at<cv::Vec3b>(0, 4));
  EXPECT_EQ(corner(Border::of({{9}}), image).at<cv::Vec3b>(0, 0), cv::Vec3b(9, 9, 9));
  EXPECT_EQ(corner(Border::of({{1, 2, 3}}), image).at<cv::Vec3b>(0, 0), cv::Vec3b(1, 2, 3));
  cv::Mat deep;
  image.convertTo(deep, CV_16U, 257);
  EXPECT_EQ(corner(Border::of({{1, 2, 3}}), deep).at<cv::Vec3w>(0, 0), cv::Vec3w(257, 514, 771));
  EXPECT_THROW(corner(Border::of({{1, 2}}), image), DataError);
}

TEST(Border, of_another_number_of_channels_is_an_error) {
  const std::map<std::string, std::string> needed = {{"Affine", "shear"}, {"Shift", "vert_frac"}};
  for (const std::string name :
       {"Affine", "Perspective", "Shift", "ElasticDeform", "RandAugment", "AutoAugment", "TrivialAugment"}) {
    ConfigNode params = {{"border", list({1, 2, 3})}};
    if (needed.contains(name)) {
      EXPECT_THROW(augmentor(name, params), ConfigError) << name << " changes nothing";
      params = params.with(needed.at(name), 1);
    }
    const auto made = augmentor(name, params);
    EXPECT_NO_THROW(made->shape({9, 9, 3}));
    EXPECT_THROW(made->shape({9, 9, 1}), ConfigError) << name;
  }
  const auto error = [](const ConfigNode& border) {
    return error_of([&] { augmentor("Shift", {{"horiz_frac", 0.1}, {"border", border}}); });
  };
  EXPECT_THAT(error("wrap"), testing::HasSubstr("'wrap'"));
  EXPECT_THAT(error(300), testing::HasSubstr("from 0 to 255"));
  EXPECT_NE(error(list({})), "no error");
}

/// Where Rotation takes the middle of an image, in 10,000 draws; degrees it turns by.
TEST(Rotation, draws_angles_within_its_range) {
  const ImageSize size{200, 100};
  const auto angles = [&](const ConfigNode& params) {
    Numbers all;
    const auto made = augmentor("Rotation", params);
    for (uint64_t seed = 0; seed < 10000; ++seed) {
      const auto transform = drawn(*made, size, seed);
      const Point p = transform->point({0, 0}, size);
      const Point q = transform->point({100, 0}, size);
      all.push_back(std::atan2(p.y - q.y, q.x - p.x) * 180 / CV_PI);
    }
    return all;
  };
  const auto free = angles({{"max_deg", 20}});
  const auto [least, most] = std::minmax_element(free.begin(), free.end());
  EXPECT_NEAR(*least, -20, 0.1);
  EXPECT_NEAR(*most, 20, 0.1);
  EXPECT_NEAR(cv::mean(free)[0], 0, 40 * 0.289 / 100 * 5);  // 5 standard errors
  std::map<long, int> steps;
  for (const double angle : angles({{"max_deg", 90}, {"step", 45}})) ++steps[std::lround(angle)];
  EXPECT_EQ(steps.size(), 5);
  for (const auto& [angle, count] : steps) EXPECT_NEAR(count, 2000, 200) << angle;  // 5 standard deviations
}

TEST(Rotation, keeps_the_place_it_rotates_around) {
  const ImageSize size{200, 100};
  const auto made = augmentor("Rotation", {{"max_deg", 180}, {"center_range", list({0.25, 0.25})}});
  for (uint64_t seed = 0; seed < 20; ++seed) {
    const Point p = drawn(*made, size, seed)->point({50, 25}, size);
    EXPECT_NEAR(p.x, 50, 1e-6);
    EXPECT_NEAR(p.y, 25, 1e-6);
  }
  EXPECT_THROW(augmentor("Rotation", {{"max_deg", 10}, {"step", 30}}), ConfigError);
}

/// No corner of the result comes from outside of the image; of a turned square, at least half is kept.
TEST(RotationAndCropValid, keeps_only_what_was_there) {
  const auto made = augmentor("RotationAndCropValid", 90);
  for (const ImageSize size : {ImageSize{200, 100}, ImageSize{101, 160}, ImageSize{90, 90}}) {
    const double width = size.width;
    const double height = size.height;
    for (uint64_t seed = 0; seed < 200; ++seed) {
      const auto transform = drawn(*made, size, seed);
      std::vector<cv::Point2f> image;
      for (const Point corner : {Point{0, 0}, Point{width, 0}, Point{width, height}, Point{0, height}}) {
        const Point p = transform->point(corner, size);
        image.emplace_back(static_cast<float>(p.x), static_cast<float>(p.y));
      }
      const ImageSize out = transform->size(size);
      for (const int x : {0, out.width}) {
        for (const int y : {0, out.height})
          EXPECT_GE(cv::pointPolygonTest(image, cv::Point(x, y), true), -0.01);
      }
      if (size.width == size.height) {
        EXPECT_GE(out.width, width * std::sqrt(0.5) - 3);
      }
    }
  }
}

/// 10,000 draws of each field of Affine alone, from where it takes three points.
TEST(Affine, draws_within_its_ranges) {
  const ImageSize size{200, 100};
  const auto range = [&](const ConfigNode& params, const std::function<double(Point, Point, Point)>& value) {
    const auto made = augmentor("Affine", params);
    std::pair<double, double> all = {1e9, -1e9};
    for (uint64_t seed = 0; seed < 10000; ++seed) {
      const auto t = drawn(*made, size, seed);
      const double drawn =
          value(t->point({100, 50}, size), t->point({101, 50}, size), t->point({100, 51}, size));
      all = {std::min(all.first, drawn), std::max(all.second, drawn)};
    }
    return all;
  };
  const auto expect_range = [](std::pair<double, double> drawn, double low, double high) {
    EXPECT_NEAR(drawn.first, low, 0.01 * (high - low));
    EXPECT_NEAR(drawn.second, high, 0.01 * (high - low));
  };
  expect_range(range({{"scale", list({0.8, 1.3})}}, [](Point o, Point x, Point) { return x.x - o.x; }), 0.8,
               1.3);
  const ConfigNode moved = {{"translate_frac", list({0.1, 0.3})}};
  expect_range(range(moved, [](Point o, Point, Point) { return o.x; }), 80, 120);
  expect_range(range(moved, [](Point o, Point, Point) { return o.y; }), 20, 80);
  expect_range(range({{"rotate_max_deg", 30}},
                     [](Point o, Point x, Point) { return std::atan2(o.y - x.y, x.x - o.x) * 180 / CV_PI; }),
               -30, 30);
  expect_range(range({{"shear", 20}},
                     [](Point o, Point, Point y) { return std::atan2(y.x - o.x, y.y - o.y) * 180 / CV_PI; }),
               -20, 20);
}

/// 10,000 draws of where the corners go.
TEST(Perspective, moves_corners_inwards) {
  const ImageSize size{200, 100};
  const auto made = augmentor("Perspective", 0.4);
  cv::Mat all(1, 10000, CV_64FC2);
  for (int i = 0; i < all.cols; ++i) {
    const auto t = drawn(*made, size, static_cast<uint64_t>(i));
    const Point p = t->point({200, 100}, size);
    all.at<cv::Vec2d>(0, i) = {200 - p.x, 100 - p.y};
    const Point q = t->point({0, 0}, size);
    EXPECT_TRUE(q.x > -1e-3 && q.x < 40.001 && q.y > -1e-3 && q.y < 20.001);
  }
  const cv::Scalar mean = cv::mean(all);
  EXPECT_NEAR(mean[0], 20, 40 * 0.289 / 100 * 5);
  EXPECT_NEAR(mean[1], 10, 20 * 0.289 / 100 * 5);
}

TEST(Shift, moves_by_whole_pixels) {
  const cv::Mat image = photo(50, 40);
  const auto made = augmentor("Shift", {{"horiz_frac", 0.2}, {"vert_frac", 0.1}});
  std::set<std::pair<double, double>> places;
  for (uint64_t seed = 0; seed < 10000; ++seed) {
    const Point p = drawn(*made, {50, 40}, seed)->point({0, 0}, {50, 40});
    EXPECT_EQ(p.x, std::round(p.x));
    places.insert({p.x, p.y});
  }
  EXPECT_EQ(places.size(), 21 * 9);
}

TEST(ElasticDeform, moves_pixels_as_far_as_it_says) {
  const ImageSize size{200, 150};
  const auto made = augmentor("ElasticDeform", {{"alpha", 60}, {"sigma", 6}});
  double sum = 0;
  int count = 0;
  for (uint64_t seed = 0; seed < 20; ++seed) {
    const auto t = drawn(*made, size, seed);
    for (double y = 10.5; y < 140; y += 10) {
      for (double x = 10.5; x < 190; x += 10) {
        const Point p = t->point({x, y}, size);
        sum += (p.x - x) * (p.x - x) + (p.y - y) * (p.y - y);
        count += 2;
      }
    }
  }
  EXPECT_NEAR(std::sqrt(sum / count), 0.0814 * 60 / 6, 0.05);
  EXPECT_THROW(augmentor("ElasticDeform", {{"alpha", 50}, {"sigma", 2}}), ConfigError);
}

TEST(Transpose, mirrors_and_swaps_the_sides) {
  const cv::Mat image = photo(50, 40);
  const auto made = augmentor("Transpose", 1);
  const cv::Mat out = applied(*made, image);
  ASSERT_EQ(out.size(), cv::Size(40, 50));
  EXPECT_EQ(out.at<cv::Vec3b>(30, 7), image.at<cv::Vec3b>(7, 30));
  EXPECT_EQ(made->shape({40, 50, 3}), (Shape{50, 40, 3}));
  EXPECT_EQ(augmentor("Transpose", 0.5)->shape({40, 50, 3}), (Shape{Shape::kUnknown, Shape::kUnknown, 3}));
  EXPECT_EQ(augmentor("Transpose", 0.5)->shape({40, 40, 3}), (Shape{40, 40, 3}));
}

TEST(Flip, mirrors_like_opencv) {
  const cv::Mat pixels = photo(13, 9);
  cv::Mat expected;
  cv::flip(pixels, expected, 1);
  EXPECT_EQ(largest_difference(applied(*augmentor("Flip", {{"prob", 1}}), pixels), expected), 0);
  cv::flip(pixels, expected, 0);
  EXPECT_EQ(largest_difference(applied(*augmentor("Flip", {{"prob", 1}, {"direction", "vertical"}}), pixels),
                               expected),
            0);
}

}  // namespace
}  // namespace tpack
