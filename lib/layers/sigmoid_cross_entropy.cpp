#include "core/text.h"
#include "graph/pointwise.h"
#include "layers/cost.h"

namespace tpack {
namespace {

struct SigmoidCrossEntropyParams {
  Ref<LayerOutput> logits;
  NumberOrOutput labels;
};

/// Shapes: logits [N, ...], labels of the same shape (or a number for all) -> the mean over all elements.
/// log(1 + exp(x)) - x * label; from 36 on, log(1 + exp(x)) is x in double precision, too, and there the
/// other branch is kept finite, so that its gradient is.
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
    constexpr double kLinearFrom = 36;
    Builder& b = model.builder();
    const Builder::NameScope scope(b, "cost", p_.logits.position);
    const Symbol x = model.output(p_.logits);
    if (pointwise::is_function(x, pointwise::Fn::kSigmoid)) {
      throw ConfigError(p_.logits.position,
                        "'logits' of cost SigmoidCrossEntropy: '" + p_.logits.name +
                            "' is the output of a sigmoid, which the cost applies itself; name the output "
                            "before the sigmoid");
    }
    const Symbol plus =
        b.select(b.greater(x, kLinearFrom), x, b.neg(b.log(b.sigmoid(b.neg(b.min(x, kLinearFrom))))));
    return b.reduce_mean(b.sub(plus, b.mul(x, model.like(p_.labels, x))));
  }

 private:
  Params p_;
};

TPACK_REGISTER(Cost, SigmoidCrossEntropy, "SigmoidCrossEntropy");

}  // namespace
}  // namespace tpack
