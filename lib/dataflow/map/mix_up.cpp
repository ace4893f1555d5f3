#include "core/registry.h"
#include "dataflow/map/batch_mix.h"

namespace tpack {
namespace {

struct MixUpParams : BatchMixParams {
  double alpha = 0.2;
};

/// Source: Zhang et al. 2018, "mixup: Beyond Empirical Risk Minimization"; with a separate partner and share
/// for each sample.
class MixUp final : public BatchMix {
 public:
  using Params = MixUpParams;
  static Schema<Params> schema() {
    return with_batch_mix(
        Schema<Params>("Blends each image of a batch with another image of the batch, and their labels in "
                       "the same proportion. SoftmaxCrossEntropy accepts such labels; in validation, metrics "
                       "and predictions, labels stay class numbers.")
            .example("MixUp: {alpha: 0.4, classes: 10}")
            .field("alpha", &Params::alpha, above(0),
                   "the share of an image is drawn from Beta(alpha, alpha): small numbers mix little, with 1 "
                   "all shares are equally likely"));
  }
  explicit MixUp(const Params& p) : BatchMix(p, "map MixUp"), alpha_(p.alpha) {}

 private:
  std::vector<MixPart> draw(int64_t row, int64_t samples, cv::Size /*size*/, Rng& rng) const override {
    const int64_t other = other_sample(row, samples, rng);
    const double share = beta(alpha_, rng);
    return {{row, share}, {other, 1 - share}};
  }
  bool pastes() const override { return false; }

  double alpha_;
};

TPACK_REGISTER(Map, MixUp, "MixUp");

}  // namespace
}  // namespace tpack
