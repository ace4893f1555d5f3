#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>
#include <vector>

#include "core/registry.h"
#include "image/augment/warp.h"

namespace tpack {
namespace {

struct RotationAndCropValidParams {
  float max_deg = 0;
};

/// The largest upright rectangle inside an image that is rotated around its middle.
ImageSize largest_inside(ImageSize size, double degrees) {
  const double angle = degrees * std::numbers::pi / 180;
  const double s = std::abs(std::sin(angle));
  const double c = std::abs(std::cos(angle));
  const double width = size.width;
  const double height = size.height;
  double most_width = 0;
  double most_height = 0;
  if (std::min(width, height) <=
      2 * s * c * std::max(width, height)) {  // two of its corners are on long sides
    const double half = std::min(width, height) / 2;
    most_width = width >= height ? half / s : half / c;
    most_height = width >= height ? half / c : half / s;
  } else {  // each of its corners is on a side
    const double turn = c * c - s * s;
    most_width = (width * c - height * s) / turn;
    most_height = (height * c - width * s) / turn;
  }
  const auto pixels = [](double side) { return std::max(1, static_cast<int>(std::floor(side + 1e-6))); };
  return {std::min(size.width, pixels(most_width)), std::min(size.height, pixels(most_height))};
}

/// Source: tensorpack imgaug/geometry.py, RotationAndCropValid.
class RotationAndCropValid final : public RandomAugmentor {
 public:
  using Params = RotationAndCropValidParams;
  static Schema<Params> schema() {
    return Schema<Params>(
               "Rotates an image by a random angle around its middle, and cuts out the largest part without "
               "borders. Sizes vary: put a Resize or RandomResizedCrop after it.")
        .example("RotationAndCropValid: 15")
        .field("max_deg", &Params::max_deg, between(0, 90),
               "the angle is in [-max_deg, max_deg) degrees; above 0 is counterclockwise")
        .required()
        .shorthand();
  }
  explicit RotationAndCropValid(Params p) : p_(p) {}

  std::unique_ptr<Transform> draw(ImageSize size, Rng& rng) const override {
    const double degrees = rng.uniform(-p_.max_deg, p_.max_deg);
    const ImageSize valid = largest_inside(size, degrees);
    std::vector<std::unique_ptr<Transform>> parts;
    parts.push_back(make_warp(around(middle_of(size), rotation(degrees)), {}));
    // A crop in the middle begins at a whole pixel if both sides are even, or both are odd.
    const auto in_middle = [](int side, int whole) { return std::max(1, side - (whole - side) % 2); };
    const ImageSize kept = {in_middle(valid.width, size.width), in_middle(valid.height, size.height)};
    parts.push_back(
        make_crop({(size.width - kept.width) / 2, (size.height - kept.height) / 2, kept.width, kept.height}));
    return make_sequence(std::move(parts));
  }
  Shape shape(const Shape& in) const override { return {Shape::kUnknown, Shape::kUnknown, in[2]}; }
  std::optional<int64_t> shorter_side(std::optional<int64_t> /*before*/) const override {
    return std::nullopt;
  }

 private:
  Params p_;
};

TPACK_REGISTER(Augmentor, RotationAndCropValid, "RotationAndCropValid");

}  // namespace
}  // namespace tpack
