#include <algorithm>
#include <optional>
#include <utility>

#include "core/error.h"
#include "core/registry.h"
#include "image/augment/augmentor.h"

namespace tpack {
namespace {

struct RandomCropRandomShapeParams {
  Extent min_shape;
  std::optional<Extent> max_shape;
  std::optional<float> max_aspect_ratio;
};

/// Source: tensorpack imgaug/crop.py, RandomCropRandomShape (there wmin, hmin, wmax, hmax).
class RandomCropRandomShape final : public Augmentor {
 public:
  using Params = RandomCropRandomShapeParams;
  static Schema<Params> schema() {
    return Schema<Params>("Cuts out a piece of random size at a random position.")
        .example("RandomCropRandomShape: {min_shape: 100, max_shape: [200, 220], max_aspect_ratio: 1.5}")
        .field("min_shape", &Params::min_shape,
               "smallest size of the piece: [height, width], or one number for both")
        .required()
        .shorthand()
        .field("max_shape", &Params::max_shape,
               "largest size: [height, width], or one number for both; null: the size of the image")
        .field("max_aspect_ratio", &Params::max_aspect_ratio, at_least(1),
               "the longer side is at most this many times the shorter one; null: any ratio. If ten sizes "
               "differ more, the longer side of the last is cut");
  }
  explicit RandomCropRandomShape(Params p) : p_(p) {
    if (p_.max_shape &&
        (p_.max_shape->height < p_.min_shape.height || p_.max_shape->width < p_.min_shape.width))
      throw ConfigError("RandomCropRandomShape: 'max_shape' is smaller than 'min_shape'");
  }

  std::unique_ptr<Transform> draw(ImageSize size, Rng& rng) const override {
    check_crop_fits(size, p_.min_shape.size());
    constexpr int kTries = 10;
    ImageSize piece = draw_size(size, rng);
    for (int i = 1; i < kTries && !is_allowed(piece); ++i) piece = draw_size(size, rng);
    piece = limited(piece);
    const int x = rng.range(0, size.width - piece.width);
    const int y = rng.range(0, size.height - piece.height);
    return make_crop({x, y, piece.width, piece.height});
  }
  std::unique_ptr<Transform> center(ImageSize size) const override {
    check_crop_fits(size, p_.min_shape.size());
    const ImageSize most = limited(largest(size));
    return make_crop(
        {(size.width - most.width) / 2, (size.height - most.height) / 2, most.width, most.height});
  }
  Shape shape(const Shape& in) const override {
    const Shape smallest = shape_of_crop(in, p_.min_shape);
    return {Shape::kUnknown, Shape::kUnknown, smallest[2]};
  }
  std::optional<int64_t> shorter_side(std::optional<int64_t> before) const override {
    shorter_side_of_crop(before, p_.min_shape);
    return std::nullopt;
  }

 private:
  ImageSize largest(ImageSize size) const {
    if (!p_.max_shape) return size;
    return {std::min(size.width, p_.max_shape->width), std::min(size.height, p_.max_shape->height)};
  }
  ImageSize draw_size(ImageSize size, Rng& rng) const {
    const ImageSize most = largest(size);
    const int width = rng.range(p_.min_shape.width, most.width);
    return {width, rng.range(p_.min_shape.height, most.height)};
  }
  ImageSize limited(ImageSize piece) const {
    if (is_allowed(piece)) return piece;
    const int longest = static_cast<int>(static_cast<float>(std::min(piece.width, piece.height)) *
                                         p_.max_aspect_ratio.value_or(1));
    return {std::min(piece.width, longest), std::min(piece.height, longest)};
  }
  bool is_allowed(ImageSize piece) const {
    const auto longer = static_cast<float>(std::max(piece.width, piece.height));
    const auto shorter = static_cast<float>(std::min(piece.width, piece.height));
    return !p_.max_aspect_ratio || longer <= *p_.max_aspect_ratio * shorter;
  }

  Params p_;
};

TPACK_REGISTER(Augmentor, RandomCropRandomShape, "RandomCropRandomShape");

}  // namespace
}  // namespace tpack
