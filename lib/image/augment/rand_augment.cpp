#include <utility>
#include <vector>

#include "core/registry.h"
#include "image/augment/policy.h"

namespace tpack {
namespace {

struct RandAugmentParams {
  int n = 2;
  float magnitude = 9;
  Border border = Border::of({});
};

/// Source: Cubuk et al. 2020, "RandAugment: Practical Automated Data Augmentation with a Reduced Search
/// Space", with the operations and magnitudes of torchvision.
class RandAugment final : public BorderedAugmentor<RandAugmentParams> {
 public:
  using Params = RandAugmentParams;
  static Schema<Params> schema() {
    return Schema<Params>(
               "Runs random operations: shears, shifts, rotations, and changes of brightness, color, "
               "contrast, sharpness and pixel values.")
        .example("RandAugment: {n: 2, magnitude: 14, border: 128}")
        .field("n", &Params::n, between(1, 20), "number of operations")
        .field("magnitude", &Params::magnitude, between(0, 30), "strength of the operations")
        .field("border", &Params::border, between(0, 255), kBorderText);
  }
  explicit RandAugment(Params p) : BorderedAugmentor(std::move(p)) {}

  std::unique_ptr<Transform> draw(ImageSize size, Rng& rng) const override {
    constexpr float kMost = 30;
    std::vector<std::unique_ptr<Transform>> parts;
    for (int i = 0; i < p_.n; ++i) {
      const auto op = static_cast<PolicyOp>(rng.below(kDrawnOps));
      const bool is_negative = rng.below(2) == 1;
      auto part = make_policy_op(op, p_.magnitude / kMost, is_negative, size, {}, p_.border);
      if (part != nullptr) parts.push_back(std::move(part));
    }
    return make_sequence(std::move(parts));
  }
};

TPACK_REGISTER(Augmentor, RandAugment, "RandAugment");

}  // namespace
}  // namespace tpack
