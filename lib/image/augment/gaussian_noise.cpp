#include <opencv2/core.hpp>

#include "core/registry.h"
#include "image/augment/augmentor.h"

namespace tpack {
namespace {

class AddNoise final : public Transform {
 public:
  AddNoise(float sigma, uint64_t seed) : sigma_(sigma), seed_(seed) {}
  void image(cv::Mat& m) const override {
    by_depth(m, [&](auto zero) { add<decltype(zero)>(m); });
  }
  bool takes_frames() const override { return true; }

 private:
  template <class T>
  void add(cv::Mat& m) const {
    const auto sigma = static_cast<float>(sigma_ * pixel_unit(m));
    Rng rng(seed_);
    for (int y = 0; y < m.rows; ++y) {
      T* row = m.ptr<T>(y);
      for (int x = 0; x < m.cols * m.channels(); ++x) {
        row[x] = cv::saturate_cast<T>(static_cast<float>(row[x]) + sigma * rng.normal());
      }
    }
  }

  float sigma_;
  uint64_t seed_;
};

struct GaussianNoiseParams {
  float sigma = 1;
};

/// Source: tensorpack imgaug/noise.py, GaussianNoise.
class GaussianNoise final : public RandomAugmentor {
 public:
  using Params = GaussianNoiseParams;
  static Schema<Params> schema() {
    return Schema<Params>("Adds normal noise to each pixel and channel.")
        .example("GaussianNoise: 10")
        .field("sigma", &Params::sigma, between(0, 255), "standard deviation; pixels are 0..255")
        .shorthand();
  }
  explicit GaussianNoise(Params p) : p_(p) {}

  std::unique_ptr<Transform> draw(ImageSize /*size*/, Rng& rng) const override {
    return std::make_unique<AddNoise>(p_.sigma, rng.next64());
  }

 private:
  Params p_;
};

TPACK_REGISTER(Augmentor, GaussianNoise, "GaussianNoise");

}  // namespace
}  // namespace tpack
