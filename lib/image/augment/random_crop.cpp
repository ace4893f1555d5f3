#include "core/registry.h"
#include "image/augment/augmentor.h"

namespace tpack {
namespace {

struct RandomCropParams {
  Extent crop_shape;
};

/// Source: tensorpack imgaug/crop.py, RandomCrop.
class RandomCrop final : public Augmentor {
 public:
  using Params = RandomCropParams;
  static Schema<Params> schema() {
    return Schema<Params>("Cuts out a piece at a random position.")
        .example("RandomCrop: 224")
        .field("crop_shape", &Params::crop_shape,
               "size of the piece: [height, width], or one number for a square")
        .required()
        .shorthand();
  }
  explicit RandomCrop(Params p) : p_(p) {}

  std::unique_ptr<Transform> draw(ImageSize size, Rng& rng) const override {
    const ImageSize crop = p_.crop_shape.size();
    check_crop_fits(size, crop);
    const int x = rng.range(0, size.width - crop.width);
    const int y = rng.range(0, size.height - crop.height);
    return make_crop({x, y, crop.width, crop.height});
  }
  std::unique_ptr<Transform> center(ImageSize size) const override {
    const ImageSize crop = p_.crop_shape.size();
    check_crop_fits(size, crop);
    return make_crop(
        {(size.width - crop.width) / 2, (size.height - crop.height) / 2, crop.width, crop.height});
  }
  Shape shape(const Shape& in) const override { return shape_of_crop(in, p_.crop_shape); }
  std::optional<int64_t> shorter_side(std::optional<int64_t> before) const override {
    return shorter_side_of_crop(before, p_.crop_shape);
  }

 private:
  Params p_;
};

TPACK_REGISTER(Augmentor, RandomCrop, "RandomCrop");

}  // namespace
}  // namespace tpack
