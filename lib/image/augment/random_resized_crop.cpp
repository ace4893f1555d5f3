#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "core/registry.h"
#include "image/augment/augmentor.h"

namespace tpack {
namespace {

struct RandomResizedCropParams {
  Extent shape = {224, 224};
  std::pair<float, float> area = {0.08F, 1};
  std::pair<float, float> ratio = {0.75F, 1.3333F};
  Interpolation interp = Interpolation::kLinear;
};

/// Source: Szegedy et al. 2015, "Going Deeper with Convolutions"; same as torchvision's RandomResizedCrop,
/// where the logarithm of the ratio is uniform. tensorpack calls it GoogleNetRandomCropAndResize.
class RandomResizedCrop final : public Augmentor {
 public:
  using Params = RandomResizedCropParams;
  static Schema<Params> schema() {
    return Schema<Params>("Cuts out a piece of random size, aspect ratio and position, and resizes it.")
        .example("RandomResizedCrop: {shape: 160, area: [0.2, 1]}")
        .field("shape", &Params::shape, "output size: [height, width], or one number for a square")
        .shorthand()
        .field("area", &Params::area, between(0.0001, 1), "share of the image that is cut out, [least, most]")
        .field("ratio", &Params::ratio, between(0.01, 100),
               "width of the piece divided by its height, [least, most]; if ten drawn pieces do not fit into "
               "the image, the largest piece in the middle is used")
        .field("interp", &Params::interp, kInterpolationText);
  }
  explicit RandomResizedCrop(Params p) : p_(std::move(p)) {
    check_range("RandomResizedCrop", "area", p_.area);
    check_range("RandomResizedCrop", "ratio", p_.ratio);
  }

  std::unique_ptr<Transform> draw(ImageSize size, Rng& rng) const override {
    constexpr int kTries = 10;
    const double pixels = static_cast<double>(size.width) * size.height;
    for (int i = 0; i < kTries; ++i) {
      const double area = pixels * rng.uniform(p_.area.first, p_.area.second);
      const double ratio = std::exp(rng.uniform(std::log(p_.ratio.first), std::log(p_.ratio.second)));
      const auto width = static_cast<int>(std::lround(std::sqrt(area * ratio)));
      const auto height = static_cast<int>(std::lround(std::sqrt(area / ratio)));
      if (width < 1 || height < 1 || width > size.width || height > size.height) continue;
      const int x = rng.range(0, size.width - width);
      const int y = rng.range(0, size.height - height);
      return resized({x, y, width, height});
    }
    return center(size);
  }
  std::unique_ptr<Transform> center(ImageSize size) const override {
    const double width = size.width;
    const double height = size.height;
    const double ratio = std::clamp<double>(width / height, p_.ratio.first, p_.ratio.second);
    const auto side = [](double pixels, int most) {
      return std::clamp(static_cast<int>(std::lround(pixels)), 1, most);
    };
    const int crop_width = side(height * ratio, size.width);
    const int crop_height = side(width / ratio, size.height);
    return resized({(size.width - crop_width) / 2, (size.height - crop_height) / 2, crop_width, crop_height});
  }
  Shape shape(const Shape& in) const override { return {p_.shape.height, p_.shape.width, in[2]}; }
  std::optional<int64_t> shorter_side(std::optional<int64_t> /*before*/) const override {
    return p_.shape.shorter();
  }

 private:
  std::unique_ptr<Transform> resized(const Region& piece) const {
    std::vector<std::unique_ptr<Transform>> parts;
    parts.push_back(make_crop(piece));
    parts.push_back(make_resize(p_.shape.size(), p_.interp));
    return make_sequence(std::move(parts));
  }

  Params p_;
};

TPACK_REGISTER(Augmentor, RandomResizedCrop, "RandomResizedCrop", "GoogleNetRandomCropAndResize");

}  // namespace
}  // namespace tpack
