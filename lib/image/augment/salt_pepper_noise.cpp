#include <opencv2/core.hpp>

#include "core/error.h"
#include "core/registry.h"
#include "image/augment/augmentor.h"

namespace tpack {
namespace {

struct SaltPepperNoiseParams {
  float white_prob = 0.05F;
  float black_prob = 0.05F;
};

class Sprinkle final : public Transform {
 public:
  Sprinkle(const SaltPepperNoiseParams& p, uint64_t seed) : p_(p), seed_(seed) {}
  void image(cv::Mat& m) const override {
    by_depth(m, [&](auto zero) { sprinkle<decltype(zero)>(m); });
  }
  bool takes_frames() const override { return true; }

 private:
  template <class T>
  void sprinkle(cv::Mat& m) const {
    const T white = cv::saturate_cast<T>(255 * pixel_unit(m));
    Rng rng(seed_);
    for (int y = 0; y < m.rows; ++y) {
      T* row = m.ptr<T>(y);
      for (int x = 0; x < m.cols * m.channels(); ++x) {
        const float drawn = rng.uniform();
        if (drawn < p_.white_prob) {
          row[x] = white;
        } else if (drawn >= 1 - p_.black_prob) {
          row[x] = 0;
        }
      }
    }
  }

  SaltPepperNoiseParams p_;
  uint64_t seed_;
};

/// Source: tensorpack imgaug/noise.py, SaltPepperNoise.
class SaltPepperNoise final : public RandomAugmentor {
 public:
  using Params = SaltPepperNoiseParams;
  static Schema<Params> schema() {
    return Schema<Params>("Sets random values to 255 or to 0, independently for each channel.")
        .example("SaltPepperNoise: {white_prob: 0.02, black_prob: 0.01}")
        .field("white_prob", &Params::white_prob, between(0, 1), "probability that a value becomes 255")
        .field("black_prob", &Params::black_prob, between(0, 1), "probability that a value becomes 0");
  }
  explicit SaltPepperNoise(Params p) : p_(p) {
    if (p_.white_prob + p_.black_prob > 1)
      throw ConfigError("SaltPepperNoise: the sum of 'white_prob' and 'black_prob' must be at most 1");
  }

  std::unique_ptr<Transform> draw(ImageSize /*size*/, Rng& rng) const override {
    return std::make_unique<Sprinkle>(p_, rng.next64());
  }

 private:
  Params p_;
};

TPACK_REGISTER(Augmentor, SaltPepperNoise, "SaltPepperNoise");

}  // namespace
}  // namespace tpack
