#include "core/error.h"
#include "core/registry.h"
#include "image/augment/augmentor.h"

namespace tpack {
namespace {

struct RandomApplyAugParams {
  Part<Augmentor> aug;
  float prob = 0.5F;
};

/// Source: tensorpack imgaug/meta.py, RandomApplyAug.
class RandomApplyAug final : public Augmentor {
 public:
  using Params = RandomApplyAugParams;
  static Schema<Params> schema() {
    return Schema<Params>("Runs another augmentor on some images.")
        .example("RandomApplyAug: {aug: {Brightness: 30}, prob: 0.3}")
        .field("aug", &Params::aug, "the augmentor")
        .required()
        .field("prob", &Params::prob, between(0, 1), "probability that it runs");
  }
  explicit RandomApplyAug(Params p) : p_(std::move(p)) {
    if (!p_.aug) throw ConfigError("RandomApplyAug: 'aug' is empty; name an augmentor, such as Flip");
  }

  std::unique_ptr<Transform> draw(ImageSize size, Rng& rng) const override {
    return rng.uniform() < p_.prob ? p_.aug->draw(size, rng) : nullptr;
  }
  std::unique_ptr<Transform> center(ImageSize size) const override {
    return p_.prob < 1 ? nullptr : p_.aug->center(size);
  }
  Shape shape(const Shape& in) const override {
    Shape out = p_.aug->shape(in);
    for (int axis = 0; axis < static_cast<int>(in.rank()); ++axis) {
      if (out[axis] != in[axis]) out = out.with(axis, Shape::kUnknown);
    }
    return out;
  }
  std::optional<int64_t> shorter_side(std::optional<int64_t> before) const override {
    if (p_.prob == 0) return before;
    const auto out = p_.aug->shorter_side(before);
    return out == before ? before : std::nullopt;
  }

 private:
  Params p_;
};

TPACK_REGISTER(Augmentor, RandomApplyAug, "RandomApplyAug", "RandomApply");

}  // namespace
}  // namespace tpack
