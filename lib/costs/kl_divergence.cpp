#include "costs/loss.h"
#include "costs/regression.h"
#include "ops/softmax_cross_entropy.h"

namespace tpack {
namespace {

struct KlDivergenceParams {
  Ref<LayerOutput> logits;
  Ref<LayerOutput> targets;
};

/// sum_c t_c (log t_c - log softmax(logits)_c), where 0 log 0 is 0. Shapes: logits [N, C], targets [N, C],
/// probabilities -> losses [N]. Source: Kullback and Leibler 1951; PyTorch's KLDivLoss, batchmean.
class KlDivergence final : public Loss {
 public:
  using Params = KlDivergenceParams;
  static Schema<Params> schema() {
    return Schema<Params>(
               "Classification with probabilities of all classes as targets (soft labels, outputs of another "
               "model): the divergence of the softmax of the logits from them.")
        .example("KLDivergence: {logits: logits, targets: teacher}")
        .field("logits", &Params::logits, "scores [N, classes]")
        .required()
        .field("targets", &Params::targets, "probabilities [N, classes]; each sample adds up to 1")
        .required();
  }
  explicit KlDivergence(Params p) : p_(std::move(p)) {}

  SampleLosses losses(const ModelView& model, const std::string& kind) const override {
    Builder& b = model.builder();
    const Builder::NameScope scope(b, kind, p_.logits.position);
    const Symbol logits = b.to_float(model.class_scores(p_.logits, kind + " KLDivergence"));
    if (logits.shape().rank() != 2)
      throw ShapeError(p_.logits.position, "the scores of classes must be [N, classes]; output " +
                                               p_.logits.name + " has shape " + logits.shape().str());
    const Symbol targets = model.like({0, p_.targets}, logits).symbol;
    constexpr double kLeast = 1e-30;  // whose product with its logarithm is 0 in single precision
    const Symbol own = b.mul(targets, b.log(b.max(targets, kLeast)));
    return b.reduce_sum(b.sub(own, b.mul(targets, log_softmax(b, logits))), {1});
  }

 private:
  Params p_;
};

TPACK_REGISTER(Loss, KlDivergence, "KLDivergence");

}  // namespace
}  // namespace tpack
