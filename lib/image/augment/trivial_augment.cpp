#include <utility>

#include "core/registry.h"
#include "image/augment/policy.h"

namespace tpack {
namespace {

struct TrivialAugmentParams {
  Border border = Border::of({});
};

/// Source: Mueller and Hutter 2021, "TrivialAugment: Tuning-free Yet State-of-the-Art Data Augmentation",
/// with its wide range of magnitudes.
class TrivialAugment final : public BorderedAugmentor<TrivialAugmentParams> {
 public:
  using Params = TrivialAugmentParams;
  static Schema<Params> schema() {
    return Schema<Params>("Runs one operation of RandAugment on an image, with a random magnitude.")
        .example("TrivialAugment: {border: 128}")
        .field("border", &Params::border, between(0, 255), kBorderText);
  }
  explicit TrivialAugment(Params p) : BorderedAugmentor(std::move(p)) {}

  std::unique_ptr<Transform> draw(ImageSize size, Rng& rng) const override {
    constexpr PolicyLimits kWide = {
        .shear = 0.99, .translate = 32, .rotate = 135, .factor = 0.99, .dropped_bits = 6};
    constexpr int kSteps = 30;
    const auto op = static_cast<PolicyOp>(rng.below(kDrawnOps));
    const double share = static_cast<double>(rng.range(0, kSteps)) / kSteps;
    return make_policy_op(op, share, rng.below(2) == 1, size, kWide, p_.border);
  }
};

TPACK_REGISTER(Augmentor, TrivialAugment, "TrivialAugment", "TrivialAugmentWide");

}  // namespace
}  // namespace tpack
