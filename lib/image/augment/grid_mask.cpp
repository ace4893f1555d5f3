#include <algorithm>
#include <cmath>
#include <utility>

#include <opencv2/core.hpp>

#include "core/registry.h"
#include "image/augment/augmentor.h"
#include "image/augment/fill.h"

namespace tpack {
namespace {

class Grid final : public Transform {
 public:
  Grid(int period, int side, const cv::Point& first, Fill fill)
      : period_(period), side_(side), first_(first), fill_(std::move(fill)) {}
  void image(cv::Mat& m) const override {
    const cv::Scalar color = fill_.scalar(m);
    const cv::Rect whole(0, 0, m.cols, m.rows);
    for (int y = first_.y - period_; y < m.rows; y += period_) {
      for (int x = first_.x - period_; x < m.cols; x += period_) {
        const cv::Rect square = cv::Rect(x, y, side_, side_) & whole;
        if (!square.empty()) m(square).setTo(color);
      }
    }
  }

 private:
  int period_;
  int side_;
  cv::Point first_;  // in [0, period)
  Fill fill_;
};

struct GridMaskParams {
  std::pair<int, int> period = {96, 224};
  float ratio = 0.5F;
  Fill fill;
};

/// Source: Chen et al. 2020, "GridMask Data Augmentation", without its rotation.
class GridMask final : public RandomAugmentor {
 public:
  using Params = GridMaskParams;
  static Schema<Params> schema() {
    return Schema<Params>("Fills the squares of a grid with random size and position.")
        .example("GridMask: {period: [20, 40], ratio: 0.4, fill: 128}")
        .field("period", &Params::period, between(2, kMaxImageSide),
               "pixels from one square to the next, [least, most]")
        .shorthand()
        .field("ratio", &Params::ratio, between(0, 1), "side of a square, as a share of the period")
        .field("fill", &Params::fill, between(0, 255),
               "fill color of the squares, as one number for all channels or one per channel");
  }
  explicit GridMask(Params p) : p_(std::move(p)) { check_range("GridMask", "period", p_.period); }

  std::unique_ptr<Transform> draw(ImageSize /*size*/, Rng& rng) const override {
    const int period = rng.range(p_.period.first, p_.period.second);
    const auto side = static_cast<int>(std::lround(p_.ratio * static_cast<float>(period)));
    const int x = rng.range(0, period - 1);
    const int y = rng.range(0, period - 1);
    return std::make_unique<Grid>(period, side, cv::Point(x, y), p_.fill);
  }
  Shape shape(const Shape& in) const override {
    p_.fill.check(in);
    return in;
  }

 private:
  Params p_;
};

TPACK_REGISTER(Augmentor, GridMask, "GridMask");

}  // namespace
}  // namespace tpack
