#include <utility>

#include "core/registry.h"
#include "image/augment/paste.h"

namespace tpack {
namespace {

struct RandomPasteParams {
  Extent background_shape;
  Fill fill;
};

/// Source: tensorpack imgaug/paste.py, RandomPaste with a constant background.
class RandomPaste final : public Augmentor {
 public:
  using Params = RandomPasteParams;
  static Schema<Params> schema() {
    return Schema<Params>(
               "Puts an image at a random position in a larger one of a single color; in predictions, into "
               "the middle.")
        .example("RandomPaste: {background_shape: [480, 640], fill: 128}")
        .field("background_shape", &Params::background_shape,
               "output size: [height, width], or one number for a square")
        .required()
        .shorthand()
        .field("fill", &Params::fill, between(0, 255),
               "color of the background, as one number for all channels or one per channel");
  }
  explicit RandomPaste(Params p) : p_(std::move(p)) {}

  std::unique_ptr<Transform> draw(ImageSize size, Rng& rng) const override {
    check_background_fits(size, p_.background_shape);
    const int x = rng.range(0, p_.background_shape.width - size.width);
    const int y = rng.range(0, p_.background_shape.height - size.height);
    return make_paste(p_.background_shape, x, y, p_.fill);
  }
  std::unique_ptr<Transform> center(ImageSize size) const override {
    return make_center_paste(size, p_.background_shape, p_.fill);
  }
  Shape shape(const Shape& in) const override {
    return shape_on_background(in, p_.background_shape, p_.fill);
  }
  std::optional<int64_t> shorter_side(std::optional<int64_t> before) const override {
    return shorter_side_of_background(before, p_.background_shape);
  }

 private:
  Params p_;
};

TPACK_REGISTER(Augmentor, RandomPaste, "RandomPaste");

}  // namespace
}  // namespace tpack
