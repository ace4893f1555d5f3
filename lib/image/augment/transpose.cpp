#include <opencv2/core.hpp>

#include "core/registry.h"
#include "image/augment/augmentor.h"
#include "image/pixel_memory.h"

namespace tpack {
namespace {

class SwapAxes final : public Transform {
 public:
  void image(cv::Mat& m) const override {
    cv::Mat out = pooled_mat();
    cv::transpose(m, out);
    m = out;
  }
  void mask(cv::Mat& m) const override { image(m); }
  Point point(const Point& p, ImageSize /*in*/) const override { return {p.y, p.x}; }
  ImageSize size(ImageSize in) const override { return {in.height, in.width}; }
};

struct TransposeImageParams {
  float prob = 0.5F;
};

/// Source: tensorpack imgaug/misc.py, Transpose.
class TransposeImage final : public Augmentor {
 public:
  using Params = TransposeImageParams;
  static Schema<Params> schema() {
    return Schema<Params>("Mirrors an image along its diagonal at random, so that rows become columns.")
        .example("Transpose: 0.3")
        .field("prob", &Params::prob, between(0, 1), "probability that an image is mirrored")
        .shorthand();
  }
  explicit TransposeImage(Params p) : p_(p) {}

  std::unique_ptr<Transform> draw(ImageSize /*size*/, Rng& rng) const override {
    return rng.uniform() < p_.prob ? std::make_unique<SwapAxes>() : nullptr;
  }
  std::unique_ptr<Transform> center(ImageSize /*size*/) const override {
    return p_.prob < 1 ? nullptr : std::make_unique<SwapAxes>();
  }
  Shape shape(const Shape& in) const override {
    if (p_.prob == 0 || in[0] == in[1]) return in;
    if (p_.prob == 1) return {in[1], in[0], in[2]};
    return {Shape::kUnknown, Shape::kUnknown, in[2]};
  }

 private:
  Params p_;
};

TPACK_REGISTER(Augmentor, TransposeImage, "Transpose");

}  // namespace
}  // namespace tpack
