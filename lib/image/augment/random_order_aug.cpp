#include <utility>
#include <vector>

#include "core/error.h"
#include "core/registry.h"
#include "image/augment/augmentor.h"

namespace tpack {
namespace {

struct RandomOrderAugParams {
  std::vector<Part<Augmentor>> augs;
};

/// Source: tensorpack imgaug/meta.py, RandomOrderAug.
class RandomOrderAug final : public Augmentor {
 public:
  using Params = RandomOrderAugParams;
  static Schema<Params> schema() {
    return Schema<Params>(
               "Runs several augmentors in random order; in predictions, in the order of the list. They must "
               "not "
               "change the shape of images.")
        .example("RandomOrderAug: [{Brightness: 30}, {Contrast: [0.5, 1.5]}]")
        .field("augs", &Params::augs, "the augmentors")
        .required()
        .shorthand();
  }
  explicit RandomOrderAug(Params p) : p_(std::move(p)) {
    if (p_.augs.size() < 2)
      throw ConfigError(
          "RandomOrderAug: 'augs' needs at least two augmentors, such as [Flip, Brightness: 30]");
  }

  std::unique_ptr<Transform> draw(ImageSize size, Rng& rng) const override {
    std::vector<std::unique_ptr<Transform>> parts;
    for (const auto& aug : p_.augs) {
      if (auto part = aug->draw(size, rng)) parts.push_back(std::move(part));
    }
    shuffle(parts, rng);
    return make_sequence(std::move(parts));
  }
  std::unique_ptr<Transform> center(ImageSize size) const override {
    std::vector<std::unique_ptr<Transform>> parts;
    for (const auto& aug : p_.augs) {
      if (auto part = aug->center(size)) parts.push_back(std::move(part));
    }
    return make_sequence(std::move(parts));
  }
  Shape shape(const Shape& in) const override {
    for (const auto& aug : p_.augs) {
      const Shape out = aug->shape(in);
      if (out != in) {
        throw ConfigError(aug.item.position(), "RandomOrderAug: one of its augmentors turns images " +
                                                   in.str() + " into " + out.str() +
                                                   "; put it before or after RandomOrderAug");
      }
    }
    return in;
  }

 private:
  Params p_;
};

TPACK_REGISTER(Augmentor, RandomOrderAug, "RandomOrderAug", "RandomOrder");

}  // namespace
}  // namespace tpack
