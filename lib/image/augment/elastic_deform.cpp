#include <cmath>
#include <utility>

#include <opencv2/imgproc.hpp>

#include "core/error.h"
#include "core/registry.h"
#include "image/augment/warp.h"
#include "image/pixel_memory.h"

namespace tpack {
namespace {

struct ElasticDeformParams {
  float alpha = 50;
  float sigma = 5;
  Border border;
};

/// A pixel of the result is the pixel that was `moved` pixels away from it.
class Deform final : public Transform {
 public:
  Deform(ImageSize size, const ElasticDeformParams& p, Rng& rng)
      : moved_(pooled_mat(size.height, size.width, CV_32FC2)), border_(p.border) {
    for (int y = 0; y < size.height; ++y) {
      auto* row = moved_.ptr<cv::Vec2f>(y);
      for (int x = 0; x < size.width; ++x) row[x] = {noise(p, rng), noise(p, rng)};
    }
    cv::GaussianBlur(moved_, moved_, {0, 0}, p.sigma, p.sigma, cv::BORDER_REFLECT);
  }

  void image(cv::Mat& m) const override {
    const bool is_filled = border_.kind == Border::Kind::kFill;
    remap(m, cv::INTER_LINEAR, opencv_border(border_), is_filled ? border_.fill.scalar(m) : cv::Scalar());
  }
  void mask(cv::Mat& m) const override { remap(m, cv::INTER_NEAREST, cv::BORDER_CONSTANT, cv::Scalar()); }
  /// The position whose pixel comes from p, found by iteration: `moved` changes by less than the position.
  Point point(const Point& p, ImageSize /*in*/) const override {
    constexpr int kSteps = 30;
    Point q = p;
    for (int i = 0; i < kSteps; ++i) {
      const cv::Vec2d away = moved_at(q);
      q = {p.x - away[0], p.y - away[1]};
    }
    return q;
  }
  bool keeps_lines() const override { return false; }

 private:
  /// As torchvision: coordinates are -1..1 there, so that alpha is half of it in pixels.
  static float noise(const ElasticDeformParams& p, Rng& rng) { return p.alpha / 2 * rng.uniform(-1, 1); }

  void remap(cv::Mat& m, int interpolation, int border, const cv::Scalar& fill) const {
    cv::Mat from = pooled_mat(moved_.rows, moved_.cols, CV_32FC2);
    for (int y = 0; y < from.rows; ++y) {
      const auto* moved = moved_.ptr<cv::Vec2f>(y);
      auto* row = from.ptr<cv::Vec2f>(y);
      for (int x = 0; x < from.cols; ++x)
        row[x] = moved[x] + cv::Vec2f(static_cast<float>(x), static_cast<float>(y));
    }
    cv::Mat out = pooled_mat();
    cv::remap(m, out, from, cv::noArray(), interpolation, border, fill);
    m = out;
  }
  /// Between the middles of pixels, linear; outside, as at the edge.
  cv::Vec2d moved_at(const Point& p) const {
    const double x = std::clamp(p.x - 0.5, 0.0, moved_.cols - 1.0);
    const double y = std::clamp(p.y - 0.5, 0.0, moved_.rows - 1.0);
    const int left = static_cast<int>(x);
    const int top = static_cast<int>(y);
    const int right = std::min(left + 1, moved_.cols - 1);
    const int bottom = std::min(top + 1, moved_.rows - 1);
    const auto at = [this](int row, int column) { return cv::Vec2d(moved_.at<cv::Vec2f>(row, column)); };
    const cv::Vec2d above = at(top, left) * (1 - (x - left)) + at(top, right) * (x - left);
    const cv::Vec2d below = at(bottom, left) * (1 - (x - left)) + at(bottom, right) * (x - left);
    return above * (1 - (y - top)) + below * (y - top);
  }

  cv::Mat moved_;
  Border border_;
};

/// Source: Simard et al. 2003, "Best Practices for Convolutional Neural Networks Applied to Visual Document
/// Analysis"; torchvision transforms, ElasticTransform.
class ElasticDeform final : public BorderedAugmentor<ElasticDeformParams> {
 public:
  using Params = ElasticDeformParams;
  static Schema<Params> schema() {
    return Schema<Params>("Moves each pixel by a random distance that differs little from its neighbors'.")
        .example("ElasticDeform: {alpha: 80, sigma: 6}")
        .field("alpha", &Params::alpha, at_least(0),
               "strength; on average, pixels move by about 0.08 * alpha / sigma pixels in each direction")
        .field("sigma", &Params::sigma, between(0.5, 100),
               "smoothness: standard deviation, in pixels, of the filter that smooths the distances")
        .field("border", &Params::border, between(0, 255), kBorderText);
  }
  explicit ElasticDeform(Params p) : BorderedAugmentor(std::move(p)) {
    // The slope of the distances has a standard deviation of 0.058 * alpha / sigma^2.
    if (p_.alpha > 3 * p_.sigma * p_.sigma)
      throw ConfigError(
          "ElasticDeform: 'alpha' must be at most 3 * sigma * sigma; otherwise, the image folds over itself");
  }

  std::unique_ptr<Transform> draw(ImageSize size, Rng& rng) const override {
    return std::make_unique<Deform>(size, p_, rng);
  }
};

TPACK_REGISTER(Augmentor, ElasticDeform, "ElasticDeform");

}  // namespace
}  // namespace tpack
