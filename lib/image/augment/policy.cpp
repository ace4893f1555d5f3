#include "image/augment/policy.h"

#include <cmath>

#include "image/augment/colors.h"
#include "image/augment/warp.h"

namespace tpack {
namespace {

cv::Matx33d shear(double x, double y) { return {1, x, 0, y, 1, 0, 0, 0, 1}; }

}  // namespace

std::unique_ptr<Transform> make_policy_op(PolicyOp op, double share, bool is_negative, ImageSize size,
                                          const PolicyLimits& limits, const Border& border) {
  const double amount = is_negative ? -share : share;
  const auto factor = static_cast<float>(1 + amount * limits.factor);
  const auto moved = [&](int side) {
    const double most = limits.translate > 1 ? limits.translate : limits.translate * side;
    return std::trunc(amount * most);  // whole pixels
  };
  switch (op) {
    case PolicyOp::kIdentity:
      return nullptr;
    case PolicyOp::kShearX:
      return make_warp(shear(-amount * limits.shear, 0), border);
    case PolicyOp::kShearY:
      return make_warp(shear(0, -amount * limits.shear), border);
    case PolicyOp::kTranslateX:
      return make_warp(translation(moved(size.width), 0), border);
    case PolicyOp::kTranslateY:
      return make_warp(translation(0, moved(size.height)), border);
    case PolicyOp::kRotate:
      return make_warp(around(middle_of(size), rotation(amount * limits.rotate)), border);
    case PolicyOp::kBrightness:
      return make_linear_color(factor, 0);
    case PolicyOp::kColor:
      return make_saturation(factor);
    case PolicyOp::kContrast:
      return make_gray_contrast(factor);
    case PolicyOp::kSharpness:
      return make_sharpness(factor);
    case PolicyOp::kPosterize:
      return make_posterize(8 - static_cast<int>(std::nearbyint(share * limits.dropped_bits)));
    case PolicyOp::kSolarize:
      return make_solarize(static_cast<float>(255 * (1 - share)));
    case PolicyOp::kAutoContrast:
      return make_auto_contrast();
    case PolicyOp::kEqualize:
      return make_equalize();
    case PolicyOp::kInvert:
      return make_invert();
  }
  return nullptr;
}

}  // namespace tpack
