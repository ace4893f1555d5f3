#include <cmath>

#include "core/registry.h"
#include "dataflow/map/batch_mix.h"

namespace tpack {
namespace {

struct CutMixParams : BatchMixParams {
  double alpha = 1;
};

/// Source: Yun et al. 2019, "CutMix: Regularization Strategy to Train Strong Classifiers"; with a separate
/// partner and rectangle for each sample.
class CutMix final : public BatchMix {
 public:
  using Params = CutMixParams;
  static Schema<Params> schema() {
    return with_batch_mix(
        Schema<Params>(
            "Pastes a rectangle of another image of the batch, with its mask, onto each image, and mixes the "
            "labels in proportion to the areas. SoftmaxCrossEntropy accepts such labels.")
            .example("CutMix: {classes: 10}")
            .field("alpha", &Params::alpha, above(0),
                   "the share of the image that stays visible is drawn from Beta(alpha, alpha)"));
  }
  explicit CutMix(const Params& p) : BatchMix(p, "map CutMix"), alpha_(p.alpha) {}

 private:
  std::vector<MixPart> draw(int64_t row, int64_t samples, cv::Size size, Rng& rng) const override {
    const int64_t other = other_sample(row, samples, rng);
    const double side = std::sqrt(1 - beta(alpha_, rng));
    const auto length = [side](int whole) { return static_cast<int>(std::lround(side * whole)); };
    const cv::Size wanted(length(size.width), length(size.height));
    const int x = rng.range(0, size.width - 1) - wanted.width / 2;
    const int y = rng.range(0, size.height - 1) - wanted.height / 2;
    const cv::Rect whole({}, size);
    const cv::Rect cut = cv::Rect({x, y}, wanted) & whole;
    const double share = static_cast<double>(cut.area()) / static_cast<double>(whole.area());
    std::vector<MixPart> parts = {{row, 1 - share, whole, whole}};
    if (!cut.empty()) parts.push_back({other, share, cut, cut});
    return parts;
  }

  double alpha_;
};

TPACK_REGISTER(Map, CutMix, "CutMix");

}  // namespace
}  // namespace tpack
