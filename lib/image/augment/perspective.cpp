#include <array>
#include <utility>

#include <opencv2/imgproc.hpp>

#include "core/registry.h"
#include "image/augment/warp.h"

namespace tpack {
namespace {

struct PerspectiveParams {
  float distortion = 0.5F;
  Border border;
};

/// Source: torchvision transforms, RandomPerspective.
class Perspective final : public BorderedAugmentor<PerspectiveParams> {
 public:
  using Params = PerspectiveParams;
  static Schema<Params> schema() {
    return Schema<Params>(
               "Shows an image as if it were seen from a random side: each of its corners moves to a random "
               "place inside the image.")
        .example("Perspective: {distortion: 0.3, border: 128}")
        .field("distortion", &Params::distortion, between(0, 0.95),
               "largest move of a corner, as a share of half of the width and height")
        .shorthand()
        .field("border", &Params::border, between(0, 255), kBorderText);
  }
  explicit Perspective(Params p) : BorderedAugmentor(std::move(p)) {}

  std::unique_ptr<Transform> draw(ImageSize size, Rng& rng) const override {
    const auto width = static_cast<float>(size.width);
    const auto height = static_cast<float>(size.height);
    const std::array<cv::Point2f, 4> corners = {{{0, 0}, {width, 0}, {width, height}, {0, height}}};
    std::array<cv::Point2f, 4> moved = corners;
    for (cv::Point2f& p : moved) {
      const float x = rng.uniform(0, p_.distortion) * width / 2;
      const float y = rng.uniform(0, p_.distortion) * height / 2;
      p += {p.x > 0 ? -x : x, p.y > 0 ? -y : y};
    }
    const cv::Matx33d matrix = cv::getPerspectiveTransform(corners.data(), moved.data());
    return make_warp(matrix, p_.border);
  }
};

TPACK_REGISTER(Augmentor, Perspective, "Perspective");

}  // namespace
}  // namespace tpack
