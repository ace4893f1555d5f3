#include "layers/affine_norm.h"

namespace tpack {
namespace {

/// Shapes: x [N, C, ...] -> y same; beta, gamma [C]. Errors: ShapeError if `groups` does not divide C.
/// Source: Wu and He 2018, "Group Normalization"; equals PyTorch's GroupNorm.
class GroupNorm final : public Layer {
 public:
  using Params = AffineNormParams<nn::GroupNormOptions>;
  static Schema<Params> schema() {
    return affine_norm_schema<nn::GroupNormOptions>(
               "Group normalization: normalizes each group of neighboring channels of a sample, then applies "
               "one scale and offset per channel. Unlike BatchNorm, it does not depend on the batch.",
               "GroupNorm: {groups: 2}")
        .field(
            "groups", option<Params>(&Params::groups), at_least(1),
            "number of groups of channels; must divide the number of channels. 1 normalizes over the whole "
            "sample, the number of channels over each channel");
  }
  explicit GroupNorm(const Params& p) : options_(p.options()) {}

  Symbol build(Builder& b, Symbol x) const override { return nn::group_norm(b, x, options_); }

 private:
  nn::GroupNormOptions options_;
};

TPACK_REGISTER(Layer, GroupNorm, "GroupNorm");

}  // namespace
}  // namespace tpack
