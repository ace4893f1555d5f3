#include "model/cost.h"

namespace tpack {
namespace {

struct MeanMetricParams {
  Ref<LayerOutput> output;
};

/// Shapes: x [N, ...] -> (sum of the elements, their number); [] -> (x, 1). Source: tensorpack
/// callbacks/inference.py, ScalarStats.
class MeanMetric final : public Metric {
 public:
  using Params = MeanMetricParams;
  static Schema<Params> schema() {
    return Schema<Params>(
               "Mean of an output over all samples and elements; if it is one number per batch, over "
               "batches.")
        .example("Mean: {output: logits}")
        .field("output", &Params::output, "an output or input")
        .required();
  }
  explicit MeanMetric(Params p) : p_(std::move(p)) {}

  SumAndWeight build(const ModelView& model) const override {
    Builder& b = model.builder();
    const Builder::NameScope scope(b, "mean", p_.output.position);
    return sum_and_count(b, b.to_float(model.output(p_.output)));
  }

 private:
  Params p_;
};

TPACK_REGISTER(Metric, MeanMetric, "Mean");

}  // namespace
}  // namespace tpack
