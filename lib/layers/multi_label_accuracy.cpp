#include <cmath>

#include "core/text.h"
#include "layers/yes_or_no.h"

namespace tpack {
namespace {

struct MultiLabelAccuracyParams : YesOrNoFields {
  double threshold = 0.5;
};

/// A logit says yes if its sigmoid is above the threshold, a label if it is above 1/2. Shapes: logits
/// [N, ...], labels of as many elements (or a number for all) -> (equal answers, number of elements).
class MultiLabelAccuracy final : public Metric {
 public:
  using Params = MultiLabelAccuracyParams;
  static Schema<Params> schema() {
    return Schema<Params>(
               "Share of right answers among all labels of all samples: a yes or no for each output, the "
               "metric to SigmoidCrossEntropy.")
        .example("MultiLabelAccuracy: {logits: logits, labels: tags}")
        .field("logits", static_cast<Ref<LayerOutput> Params::*>(&Params::logits), "scores [N, ...]")
        .required()
        .field("labels", static_cast<NumberOrOutput Params::*>(&Params::labels),
               "an output of the logits' size, or a number for all; yes above 0.5, no else")
        .required()
        .field("threshold", &Params::threshold, between(0, 1),
               "probability above which an output says yes; above 0 and below 1");
  }
  explicit MultiLabelAccuracy(Params p) : p_(std::move(p)) {
    if (p_.threshold == 0 || p_.threshold == 1)
      throw ConfigError(std::string(kOwner) + ": 'threshold' is " + shortest(p_.threshold) +
                        "; must be above 0 and below 1");
    check_labels(p_, kOwner);
  }

  SumAndWeight build(const ModelView& model) const override {
    Builder& b = model.builder();
    const Builder::NameScope scope(b, "multi_label_accuracy", p_.logits.position);
    const Symbol x = logits_of(model, p_, kOwner);
    const Symbol yes = b.greater(x, std::log(p_.threshold / (1 - p_.threshold)));
    const Builder::Operand labels = model.like(p_.labels, x);
    const Builder::Operand expected = labels.symbol ? Builder::Operand(b.greater(labels, 0.5))
                                                    : Builder::Operand(labels.value > 0.5 ? 1.0 : 0.0);
    return sum_and_count(b, b.to_float(b.equal(yes, expected)));
  }

 private:
  static constexpr const char* kOwner = "metric MultiLabelAccuracy";
  Params p_;
};

TPACK_REGISTER(Metric, MultiLabelAccuracy, "MultiLabelAccuracy");

}  // namespace
}  // namespace tpack
