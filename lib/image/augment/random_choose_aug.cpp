#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/registry.h"
#include "image/augment/augmentor.h"

namespace tpack {
namespace {

struct RandomChooseAugParams {
  std::vector<Part<Augmentor>> augs;
  std::vector<float> weights;
};

/// Source: tensorpack imgaug/meta.py, RandomChooseAug.
class RandomChooseAug final : public Augmentor {
 public:
  using Params = RandomChooseAugParams;
  static Schema<Params> schema() {
    return Schema<Params>("Runs one of several augmentors, chosen at random; in predictions, the first one.")
        .example("RandomChooseAug: {augs: [{Brightness: 30}, {Contrast: [0.5, 1.5]}], weights: [3, 1]}")
        .field("augs", &Params::augs, "the augmentors")
        .required()
        .shorthand()
        .field("weights", &Params::weights, at_least(0),
               "relative frequency of each augmentor; empty: all are chosen equally often");
  }
  explicit RandomChooseAug(Params p) : p_(std::move(p)) {
    if (p_.augs.empty()) throw ConfigError("RandomChooseAug: 'augs' is empty; name augmentors, such as Flip");
    if (p_.weights.empty()) p_.weights.assign(p_.augs.size(), 1);
    if (p_.weights.size() != p_.augs.size())
      throw ConfigError("RandomChooseAug: there are " + std::to_string(p_.augs.size()) + " augmentors, but " +
                        std::to_string(p_.weights.size()) + " weights");
    total_ = std::accumulate(p_.weights.begin(), p_.weights.end(), 0.0F);
    if (total_ <= 0) throw ConfigError("RandomChooseAug: one of the weights must be above 0");
  }

  std::unique_ptr<Transform> draw(ImageSize size, Rng& rng) const override {
    float left = rng.uniform() * total_;
    size_t chosen = 0;
    for (size_t i = 0; i < p_.augs.size(); ++i) {
      if (p_.weights[i] <= 0) continue;
      chosen = i;
      left -= p_.weights[i];
      if (left < 0) break;
    }
    return p_.augs[chosen]->draw(size, rng);
  }
  std::unique_ptr<Transform> center(ImageSize size) const override { return p_.augs[0]->center(size); }
  Shape shape(const Shape& in) const override {
    Shape out = p_.augs[0]->shape(in);
    for (const auto& aug : p_.augs) {
      const Shape other = aug->shape(in);
      for (int axis = 0; axis < static_cast<int>(in.rank()); ++axis) {
        if (out[axis] != other[axis]) out = out.with(axis, Shape::kUnknown);
      }
    }
    return out;
  }
  std::optional<int64_t> shorter_side(std::optional<int64_t> before) const override {
    const auto first = p_.augs[0]->shorter_side(before);
    const bool is_same = std::all_of(p_.augs.begin(), p_.augs.end(),
                                     [&](const auto& aug) { return aug->shorter_side(before) == first; });
    return is_same ? first : std::nullopt;
  }

 private:
  Params p_;
  float total_ = 0;
};

TPACK_REGISTER(Augmentor, RandomChooseAug, "RandomChooseAug", "RandomChoice");

}  // namespace
}  // namespace tpack
