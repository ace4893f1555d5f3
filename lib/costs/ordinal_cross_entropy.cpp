#include "costs/label_range.h"
#include "costs/loss.h"

namespace tpack {
namespace {

struct OrdinalCrossEntropyParams {
  Ref<LayerOutput> logits;
  Ref<LayerOutput> labels;
};

/// The sum, over k = 0, ..., C - 2, of the binary cross entropy of "the class is above k" and the sigmoid of
/// logit k. Shapes: logits [N, C - 1], labels int32 [N], from 0 to C - 1 -> losses [N]; NaN for other labels.
/// Source: Frank and Hall 2001, "A Simple Approach to Ordinal Classification"; with one output and C - 1
/// biases: Cao et al. 2020, "Rank consistent ordinal regression" (CORAL).
class OrdinalCrossEntropy final : public Loss {
 public:
  using Params = OrdinalCrossEntropyParams;
  static Schema<Params> schema() {
    return Schema<Params>(
               "Ordered classes (grades, stars, stages): for each border between two classes, a binary label "
               "whether the sample is above it. The layer OrdinalProbabilities computes class probabilities "
               "from the logits.")
        .example("OrdinalCrossEntropy: {logits: borders, labels: grade}")
        .field("logits", &Params::logits,
               "scores [N, classes - 1], one for each border, starting with the lowest")
        .required()
        .field("labels", &Params::labels, "ordered class numbers, int32 [N]")
        .required();
  }
  explicit OrdinalCrossEntropy(Params p) : p_(std::move(p)) {}

  SampleLosses losses(const ModelView& model, const std::string& kind) const override {
    Builder& b = model.builder();
    const Builder::NameScope scope(b, kind, p_.logits.position);
    const Symbol given = model.output(p_.logits);
    if (b.meaning(given).has_range())
      throw ConfigError(p_.logits.position, "'logits' of " + kind + " OrdinalCrossEntropy: '" +
                                                p_.logits.name +
                                                "' are probabilities; name the output before the sigmoid or "
                                                "softmax");
    const Symbol x = b.to_float(given);
    if (x.shape().rank() != 2)
      throw ShapeError(p_.logits.position, "the scores of borders must be [N, classes - 1]; output " +
                                               p_.logits.name + " has shape " + x.shape().str());
    const int64_t borders = x.shape()[1];
    const Symbol labels = b.to_float(model.class_numbers(p_.labels, x));
    const Symbol level = b.reshape(labels, {x.shape()[0], 1});
    std::vector<double> numbers;
    for (int64_t k = 0; k < borders; ++k) numbers.push_back(static_cast<double>(k));
    const Symbol border = b.constant(Tensor::of<double>({1, borders}, numbers).cast(b.float_type()));
    const Symbol is_above = b.greater(level, border);
    const Symbol each = b.select(is_above, b.softplus(b.neg(x)), b.softplus(x));
    const Symbol bad = nan_outside_of_0_to_1(b, b.mul(labels, 1 / static_cast<double>(borders)));
    return b.add(b.reduce_sum(each, {1}), bad);
  }

 private:
  Params p_;
};

TPACK_REGISTER(Loss, OrdinalCrossEntropy, "OrdinalCrossEntropy");

}  // namespace
}  // namespace tpack
