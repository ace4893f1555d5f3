#include "core/registry.h"
#include "image/augment/augmentor.h"

namespace tpack {
namespace {

struct CropParams {
  Extent crop_shape;
};

/// A piece of a given size.
class CropAugmentor : public Augmentor {
 public:
  using Params = CropParams;
  explicit CropAugmentor(Params p) : p_(p) {}

  std::unique_ptr<Transform> center(ImageSize size) const override {
    const ImageSize crop = crop_of(size);
    return make_crop(
        {(size.width - crop.width) / 2, (size.height - crop.height) / 2, crop.width, crop.height});
  }
  Shape shape(const Shape& in) const final { return shape_of_crop(in, p_.crop_shape); }
  std::optional<int64_t> shorter_side(std::optional<int64_t> before) const final {
    return shorter_side_of_crop(before, p_.crop_shape);
  }

 protected:
  static Schema<Params> schema_of(const char* summary, const char* example) {
    return Schema<Params>(summary)
        .example(example)
        .field("crop_shape", &Params::crop_shape,
               "size of the piece: [height, width], or one number for a square")
        .required()
        .shorthand();
  }
  /// Errors: as check_crop_fits.
  ImageSize crop_of(ImageSize size) const {
    check_crop_fits(size, p_.crop_shape.size());
    return p_.crop_shape.size();
  }

 private:
  Params p_;
};

/// Source: tensorpack imgaug/crop.py, CenterCrop.
class CenterCrop final : public CropAugmentor {
 public:
  using CropAugmentor::CropAugmentor;
  static Schema<Params> schema() { return schema_of("Cuts out the middle of an image.", "CenterCrop: 224"); }
  std::unique_ptr<Transform> center(ImageSize size) const override {
    return crop_of(size) == size ? nullptr : CropAugmentor::center(size);
  }
  std::unique_ptr<Transform> draw(ImageSize size, Rng& /*rng*/) const override { return center(size); }
};

/// Source: tensorpack imgaug/crop.py, RandomCrop.
class RandomCrop final : public CropAugmentor {
 public:
  using CropAugmentor::CropAugmentor;
  static Schema<Params> schema() {
    return schema_of("Cuts out a piece at a random position.", "RandomCrop: 224");
  }
  std::unique_ptr<Transform> draw(ImageSize size, Rng& rng) const override {
    const ImageSize crop = crop_of(size);
    const int x = rng.range(0, size.width - crop.width);
    const int y = rng.range(0, size.height - crop.height);
    return make_crop({x, y, crop.width, crop.height});
  }
};

TPACK_REGISTER(Augmentor, CenterCrop, "CenterCrop");
TPACK_REGISTER(Augmentor, RandomCrop, "RandomCrop");

}  // namespace
}  // namespace tpack
