#include <algorithm>
#include <array>
#include <vector>

#include "core/error.h"
#include "core/registry.h"
#include "image/augment/augmentor.h"
#include "image/augment/colors.h"

namespace tpack {
namespace {

struct LightingParams {
  float stddev = 0.1F;
  // Values for ImageNet, from fb.resnet.torch (there for pixels of 0..1).
  std::vector<float> eigenvalues = {55.46F, 4.794F, 1.1475F};
  std::vector<std::vector<float>> eigenvectors = {
      {-0.5675F, -0.5808F, -0.5836F}, {0.7192F, -0.0045F, -0.6948F}, {0.4009F, -0.814F, 0.4203F}};
};

/// Source: Krizhevsky et al. 2012, "ImageNet Classification with Deep Convolutional Neural Networks";
/// tensorpack imgaug/imgproc.py, Lighting.
class Lighting final : public RandomAugmentor {
 public:
  using Params = LightingParams;
  static Schema<Params> schema() {
    return Schema<Params>(
               "Adds a random color to all pixels of RGB images, along the main directions in which the "
               "colors "
               "of a dataset differ; does not change gray images.")
        .example("Lighting: 0.2")
        .field("stddev", &Params::stddev, at_least(0),
               "standard deviation of the random numbers that are multiplied with the eigenvalues")
        .shorthand()
        .field("eigenvalues", &Params::eigenvalues, at_least(0),
               "how much colors differ along each direction; pixels are 0..255; the default is that of "
               "ImageNet")
        .field("eigenvectors", &Params::eigenvectors, "the directions, each as [red, green, blue]");
  }
  explicit Lighting(Params p) : p_(std::move(p)) {
    const auto has_three = [](const auto& list) { return list.size() == 3; };
    if (!has_three(p_.eigenvalues) || !has_three(p_.eigenvectors) ||
        !std::all_of(p_.eigenvectors.begin(), p_.eigenvectors.end(), has_three))
      throw ConfigError("Lighting: 'eigenvalues' are 3 numbers, 'eigenvectors' 3 lists of 3 numbers");
  }

  std::unique_ptr<Transform> draw(ImageSize /*size*/, Rng& rng) const override {
    std::array<float, 3> rgb{};
    for (size_t k = 0; k < 3; ++k) {
      const float amount = p_.stddev * rng.normal() * p_.eigenvalues[k];
      for (size_t c = 0; c < 3; ++c) rgb.at(c) += amount * p_.eigenvectors[k][c];
    }
    return make_rgb_offset(rgb);
  }

 private:
  Params p_;
};

TPACK_REGISTER(Augmentor, Lighting, "Lighting");

}  // namespace
}  // namespace tpack
