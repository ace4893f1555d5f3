#include "image/augment/warp.h"

#include <cmath>
#include <numbers>

#include <opencv2/imgproc.hpp>

#include "image/pixel_memory.h"

namespace tpack {
namespace {

class Warp final : public Transform {
 public:
  /// OpenCV's (0, 0) is the middle of the first pixel, not its corner.
  Warp(const cv::Matx33d& matrix, Border border)
      : matrix_(matrix), back_((around({-0.5, -0.5}, matrix)).inv()), border_(std::move(border)) {}

  void image(cv::Mat& m) const override {
    const bool is_filled = border_.kind == Border::Kind::kFill;
    warp(m, cv::INTER_LINEAR, opencv_border(border_), is_filled ? border_.fill.scalar(m) : cv::Scalar());
  }
  void mask(cv::Mat& m) const override { warp(m, cv::INTER_NEAREST, cv::BORDER_CONSTANT, cv::Scalar()); }
  Point point(const Point& p, ImageSize /*in*/) const override {
    const cv::Vec3d q = matrix_ * cv::Vec3d(p.x, p.y, 1);
    return {q[0] / q[2], q[1] / q[2]};
  }

 private:
  void warp(cv::Mat& m, int interpolation, int border, const cv::Scalar& fill) const {
    const int flags = interpolation | cv::WARP_INVERSE_MAP;
    cv::Mat out = pooled_mat();
    if (back_(2, 0) == 0 && back_(2, 1) == 0) {
      cv::warpAffine(m, out, back_.get_minor<2, 3>(0, 0) * (1 / back_(2, 2)), m.size(), flags, border, fill);
    } else {
      cv::warpPerspective(m, out, back_, m.size(), flags, border, fill);
    }
    m = out;
  }

  cv::Matx33d matrix_;
  cv::Matx33d back_;  // from output to input, as OpenCV requires
  Border border_;
};

}  // namespace

std::unique_ptr<Transform> make_warp(const cv::Matx33d& matrix, const Border& border) {
  return std::make_unique<Warp>(matrix, border);
}

cv::Matx33d translation(double x, double y) { return {1, 0, x, 0, 1, y, 0, 0, 1}; }

cv::Matx33d rotation(double degrees) {
  const double angle = degrees * std::numbers::pi / 180;
  const double c = std::cos(angle);
  const double s = std::sin(angle);
  return {c, s, 0, -s, c, 0, 0, 0, 1};  // y points down
}

cv::Matx33d around(const Point& center, const cv::Matx33d& matrix) {
  return translation(center.x, center.y) * matrix * translation(-center.x, -center.y);
}

int opencv_border(const Border& border) {
  if (border.kind == Border::Kind::kFill) return cv::BORDER_CONSTANT;
  return border.kind == Border::Kind::kEdge ? cv::BORDER_REPLICATE : cv::BORDER_REFLECT;
}

}  // namespace tpack
