#include "core/text.h"
#include "graph/pointwise.h"
#include "layers/cost.h"
#include "ops/softplus.h"

namespace tpack {
namespace {

struct SigmoidCrossEntropyParams {
  Ref<LayerOutput> logits;
  NumberOrOutput labels;
};

/// Shapes: logits [N, ...], labels of the same shape (or a number for all) -> the mean over all elements.
/// Each loss is log(1 + exp(x)) - x * label.
class SigmoidCrossEntropy final : public Cost {
 public:
  using Params = SigmoidCrossEntropyParams;
  static Schema<Params> schema() {
    return Schema<Params>(
               "A yes or no for each output (one class, several labels, real or fake): the mean cross "
               "entropy "
               "between labels from 0 to 1 and the sigmoid of the logits.")
        .example("SigmoidCrossEntropy: {logits: logits, labels: 1}")
        .field("logits", &Params::logits, "scores [N, ...]")
        .required()
        .field("labels", &Params::labels,
               "probabilities of yes: an output of the logits' size, or a number for all")
        .required();
  }
  explicit SigmoidCrossEntropy(Params p) : p_(std::move(p)) {
    if (p_.labels.output.empty() && !(p_.labels.number >= 0 && p_.labels.number <= 1))
      throw ConfigError("SigmoidCrossEntropy: 'labels' is " + shortest(p_.labels.number) +
                        "; must be from 0 to 1");
  }

  Symbol build(const ModelView& model) const override {
    Builder& b = model.builder();
    const Builder::NameScope scope(b, "cost", p_.logits.position);
    const Symbol x = model.output(p_.logits);
    if (pointwise::is_function(x, pointwise::Fn::kSigmoid)) {
      throw ConfigError(p_.logits.position,
                        "'logits' of cost SigmoidCrossEntropy: '" + p_.logits.name +
                            "' is the output of a sigmoid, which the cost applies itself; name the output "
                            "before the sigmoid");
    }
    return b.reduce_mean(b.sub(softplus(b, x), b.mul(x, model.like(p_.labels, x))));
  }

 private:
  Params p_;
};

TPACK_REGISTER(Cost, SigmoidCrossEntropy, "SigmoidCrossEntropy");

}  // namespace
}  // namespace tpack
