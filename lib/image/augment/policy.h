#pragma once

#include <memory>

#include "image/augment/augmentor.h"
#include "image/augment/fill.h"

/// The operations of AutoAugment and later policies.
namespace tpack {

enum class PolicyOp : uint8_t {
  kIdentity,
  kShearX,
  kShearY,
  kTranslateX,
  kTranslateY,
  kRotate,
  kBrightness,
  kColor,
  kContrast,
  kSharpness,
  kPosterize,
  kSolarize,
  kAutoContrast,
  kEqualize,
  kInvert
};
/// Number of operations for policies that draw one: all except kInvert, which is only in AutoAugment.
constexpr int kDrawnOps = static_cast<int>(PolicyOp::kInvert);

/// The strength of operations at their largest magnitude.
struct PolicyLimits {
  double shear = 0.3;                // pixels per pixel
  double translate = 150.0 / 331.0;  // of the side; above 1: pixels
  double rotate = 30;                // degrees
  double factor = 0.9;   // 1 - factor or 1 + factor, for brightness, color, contrast and sharpness
  int dropped_bits = 4;  // of posterize
};

/// An operation at a share of its largest magnitude; `is_negative` if it has a direction. Null: no change.
std::unique_ptr<Transform> make_policy_op(PolicyOp op, double share, bool is_negative, ImageSize size,
                                          const PolicyLimits& limits, const Border& border);

}  // namespace tpack
