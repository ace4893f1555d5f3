#include "core/registry.h"
#include "image/augment/augmentor.h"

namespace tpack {
namespace {

struct CenterCropParams {
  Extent crop_shape;
};

/// Source: tensorpack imgaug/crop.py, CenterCrop.
class CenterCrop final : public Augmentor {
 public:
  using Params = CenterCropParams;
  static Schema<Params> schema() {
    return Schema<Params>("Cuts out the middle of an image.")
        .example("CenterCrop: 224")
        .field("crop_shape", &Params::crop_shape,
               "size of the piece: [height, width], or one number for a square")
        .required()
        .shorthand();
  }
  explicit CenterCrop(Params p) : p_(p) {}

  std::unique_ptr<Transform> draw(ImageSize size, Rng& /*rng*/) const override {
    const ImageSize crop = p_.crop_shape.size();
    if (size == crop) return nullptr;
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

TPACK_REGISTER(Augmentor, CenterCrop, "CenterCrop");

}  // namespace
}  // namespace tpack
