#include <array>
#include <span>
#include <utility>
#include <vector>

#include "core/registry.h"
#include "image/augment/policy.h"

namespace tpack {
namespace {

/// An operation with its probability; its magnitude is 0 to 9.
struct PolicyStep {
  PolicyOp op;
  float prob;
  int magnitude;
};
using SubPolicy = std::pair<PolicyStep, PolicyStep>;
using enum PolicyOp;

constexpr size_t kPairs = 25;

// The policies of the paper (its tables 7 to 9), in its order.
constexpr std::array<SubPolicy, kPairs> kImageNet = {{
    {{kPosterize, 0.4F, 8}, {kRotate, 0.6F, 9}},  {{kSolarize, 0.6F, 5}, {kAutoContrast, 0.6F, 0}},
    {{kEqualize, 0.8F, 0}, {kEqualize, 0.6F, 0}}, {{kPosterize, 0.6F, 7}, {kPosterize, 0.6F, 6}},
    {{kEqualize, 0.4F, 0}, {kSolarize, 0.2F, 4}}, {{kEqualize, 0.4F, 0}, {kRotate, 0.8F, 8}},
    {{kSolarize, 0.6F, 3}, {kEqualize, 0.6F, 0}}, {{kPosterize, 0.8F, 5}, {kEqualize, 1, 0}},
    {{kRotate, 0.2F, 3}, {kSolarize, 0.6F, 8}},   {{kEqualize, 0.6F, 0}, {kPosterize, 0.4F, 6}},
    {{kRotate, 0.8F, 8}, {kColor, 0.4F, 0}},      {{kRotate, 0.4F, 9}, {kEqualize, 0.6F, 0}},
    {{kEqualize, 0, 0}, {kEqualize, 0.8F, 0}},    {{kInvert, 0.6F, 0}, {kEqualize, 1, 0}},
    {{kColor, 0.6F, 4}, {kContrast, 1, 8}},       {{kRotate, 0.8F, 8}, {kColor, 1, 2}},
    {{kColor, 0.8F, 8}, {kSolarize, 0.8F, 7}},    {{kSharpness, 0.4F, 7}, {kInvert, 0.6F, 0}},
    {{kShearX, 0.6F, 5}, {kEqualize, 1, 0}},      {{kColor, 0.4F, 0}, {kEqualize, 0.6F, 0}},
    {{kEqualize, 0.4F, 0}, {kSolarize, 0.2F, 4}}, {{kSolarize, 0.6F, 5}, {kAutoContrast, 0.6F, 0}},
    {{kInvert, 0.6F, 0}, {kEqualize, 1, 0}},      {{kColor, 0.6F, 4}, {kContrast, 1, 8}},
    {{kEqualize, 0.8F, 0}, {kEqualize, 0.6F, 0}},
}};
constexpr std::array<SubPolicy, kPairs> kCifar10 = {{
    {{kInvert, 0.1F, 0}, {kContrast, 0.2F, 6}},
    {{kRotate, 0.7F, 2}, {kTranslateX, 0.3F, 9}},
    {{kSharpness, 0.8F, 1}, {kSharpness, 0.9F, 3}},
    {{kShearY, 0.5F, 8}, {kTranslateY, 0.7F, 9}},
    {{kAutoContrast, 0.5F, 0}, {kEqualize, 0.9F, 0}},
    {{kShearY, 0.2F, 7}, {kPosterize, 0.3F, 7}},
    {{kColor, 0.4F, 3}, {kBrightness, 0.6F, 7}},
    {{kSharpness, 0.3F, 9}, {kBrightness, 0.7F, 9}},
    {{kEqualize, 0.6F, 0}, {kEqualize, 0.5F, 0}},
    {{kContrast, 0.6F, 7}, {kSharpness, 0.6F, 5}},
    {{kColor, 0.7F, 7}, {kTranslateX, 0.5F, 8}},
    {{kEqualize, 0.3F, 0}, {kAutoContrast, 0.4F, 0}},
    {{kTranslateY, 0.4F, 3}, {kSharpness, 0.2F, 6}},
    {{kBrightness, 0.9F, 6}, {kColor, 0.2F, 8}},
    {{kSolarize, 0.5F, 2}, {kInvert, 0, 0}},
    {{kEqualize, 0.2F, 0}, {kAutoContrast, 0.6F, 0}},
    {{kEqualize, 0.2F, 0}, {kEqualize, 0.6F, 0}},
    {{kColor, 0.9F, 9}, {kEqualize, 0.6F, 0}},
    {{kAutoContrast, 0.8F, 0}, {kSolarize, 0.2F, 8}},
    {{kBrightness, 0.1F, 3}, {kColor, 0.7F, 0}},
    {{kSolarize, 0.4F, 5}, {kAutoContrast, 0.9F, 0}},
    {{kTranslateY, 0.9F, 9}, {kTranslateY, 0.7F, 9}},
    {{kAutoContrast, 0.9F, 0}, {kSolarize, 0.8F, 3}},
    {{kEqualize, 0.8F, 0}, {kInvert, 0.1F, 0}},
    {{kTranslateY, 0.7F, 9}, {kAutoContrast, 0.9F, 0}},
}};
constexpr std::array<SubPolicy, kPairs> kSvhn = {{
    {{kShearX, 0.9F, 4}, {kInvert, 0.2F, 0}},       {{kShearY, 0.9F, 8}, {kInvert, 0.7F, 0}},
    {{kEqualize, 0.6F, 0}, {kSolarize, 0.6F, 6}},   {{kInvert, 0.9F, 0}, {kEqualize, 0.6F, 0}},
    {{kEqualize, 0.6F, 0}, {kRotate, 0.9F, 3}},     {{kShearX, 0.9F, 4}, {kAutoContrast, 0.8F, 0}},
    {{kShearY, 0.9F, 8}, {kInvert, 0.4F, 0}},       {{kShearY, 0.9F, 5}, {kSolarize, 0.2F, 6}},
    {{kInvert, 0.9F, 0}, {kAutoContrast, 0.8F, 0}}, {{kEqualize, 0.6F, 0}, {kRotate, 0.9F, 3}},
    {{kShearX, 0.9F, 4}, {kSolarize, 0.3F, 3}},     {{kShearY, 0.8F, 8}, {kInvert, 0.7F, 0}},
    {{kEqualize, 0.9F, 0}, {kTranslateY, 0.6F, 6}}, {{kInvert, 0.9F, 0}, {kEqualize, 0.6F, 0}},
    {{kContrast, 0.3F, 3}, {kRotate, 0.8F, 4}},     {{kInvert, 0.8F, 0}, {kTranslateY, 0, 2}},
    {{kShearY, 0.7F, 6}, {kSolarize, 0.4F, 8}},     {{kInvert, 0.6F, 0}, {kRotate, 0.8F, 4}},
    {{kShearY, 0.3F, 7}, {kTranslateX, 0.9F, 3}},   {{kShearX, 0.1F, 6}, {kInvert, 0.6F, 0}},
    {{kSolarize, 0.7F, 2}, {kTranslateY, 0.6F, 7}}, {{kShearY, 0.8F, 4}, {kInvert, 0.8F, 0}},
    {{kShearX, 0.7F, 9}, {kTranslateY, 0.8F, 3}},   {{kShearY, 0.8F, 5}, {kAutoContrast, 0.7F, 0}},
    {{kShearX, 0.7F, 2}, {kInvert, 0.1F, 0}},
}};

enum class LearnedPolicy : uint8_t { kForImageNet, kForCifar10, kForSvhn };

std::span<const SubPolicy> sub_policies(LearnedPolicy policy) {
  if (policy == LearnedPolicy::kForImageNet) return kImageNet;
  return policy == LearnedPolicy::kForCifar10 ? kCifar10 : kSvhn;
}

struct AutoAugmentParams {
  LearnedPolicy policy = LearnedPolicy::kForImageNet;
  Border border = Border::of({});
};

}  // namespace

template <>
struct EnumNames<LearnedPolicy> {
  static constexpr std::array<std::pair<const char*, LearnedPolicy>, 3> kNames = {
      {{"imagenet", LearnedPolicy::kForImageNet},
       {"cifar10", LearnedPolicy::kForCifar10},
       {"svhn", LearnedPolicy::kForSvhn}}};
};

namespace {

/// Source: Cubuk et al. 2019, "AutoAugment: Learning Augmentation Strategies from Data", with the magnitudes
/// of torchvision.
class AutoAugment final : public BorderedAugmentor<AutoAugmentParams> {
 public:
  using Params = AutoAugmentParams;
  static Schema<Params> schema() {
    return Schema<Params>("Runs one of 25 learned pairs of operations on an image, each with a probability.")
        .example("AutoAugment: {policy: cifar10, border: 128}")
        .field("policy", &Params::policy, "the dataset that the pairs were learned on")
        .shorthand()
        .field("border", &Params::border, between(0, 255), kBorderText);
  }
  explicit AutoAugment(Params p) : BorderedAugmentor(std::move(p)) {}

  std::unique_ptr<Transform> draw(ImageSize size, Rng& rng) const override {
    constexpr double kMost = 9;
    const std::span<const SubPolicy> all = sub_policies(p_.policy);
    const SubPolicy& chosen = all[rng.below(static_cast<uint32_t>(all.size()))];
    std::vector<std::unique_ptr<Transform>> parts;
    for (const PolicyStep& step : {chosen.first, chosen.second}) {
      const bool runs = rng.uniform() < step.prob;
      const bool is_negative = rng.below(2) == 1;
      if (runs)
        parts.push_back(make_policy_op(step.op, step.magnitude / kMost, is_negative, size, {}, p_.border));
    }
    return make_sequence(std::move(parts));
  }
};

TPACK_REGISTER(Augmentor, AutoAugment, "AutoAugment");

}  // namespace
}  // namespace tpack
