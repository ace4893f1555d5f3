#pragma once

#include <string>
#include <utility>
#include <vector>

#include "core/schema.h"
#include "predict/evaluator.h"
#include "train/callback.h"

namespace tpack {

/// The parameters of callbacks that run the model over another flow.
struct InferenceFields {
  Ref<FlowName> data;
  std::vector<Ref<Stat>> metrics;
};

/// Base of InferenceRunner and DataParallelInferenceRunner: they report FLOW_METRIC.
class FlowInference : public Callback {
 public:
  void setup(Setup& setup) override;
  void trigger(Run& run) override;
  /// Logs the class reports of the last evaluation, and writes them to the run's folder `reports`.
  void after_train(Run& run) override;

 protected:
  /// `ranks_are_fixed`: as in CallbackRules.
  explicit FlowInference(InferenceFields fields, Ranks ranks = Ranks::kChief,
                         const char* ranks_are_fixed = nullptr);

  /// Makes the evaluators, which have the same statistics; one of them. Errors: ConfigError.
  virtual const Evaluator& prepare(Run& run, const InferenceFields& fields, const DataFlow& flow) = 0;
  virtual Evaluator::Evaluation evaluate(Run& run) = 0;
  /// The input that made a statistic NaN or infinite, if this process had it; else "".
  virtual std::string bad_input() const = 0;

 private:
  /// The class reports of an evaluation.
  struct Reports {
    std::vector<ClassReport> all = {};
    int64_t step = 0;
    std::string weights = {};  // as Run::borrowed_weights
  };
  void choose_metrics(const Evaluator& evaluator);
  std::string report_name(const ClassReport& report) const;
  const Reports* of_kept_weights(const Run& run) const;
  void show(const Run& run, const Reports& reports) const;

  InferenceFields fields_;
  std::vector<std::pair<size_t, std::string>> chosen_;  // (number of the statistic, name of the scalar)
  std::vector<std::pair<std::string, std::string>> of_classes_;  // (figure of a class, name of the scalar)
  Reports last_;
  Reports restorable_;  // of weights that may be restored
};

/// Adds these fields to the schema of a callback whose Params derive from it.
template <std::derived_from<InferenceFields> P>
Schema<P> inferring(Schema<P> schema) {
  return schema.field("data", static_cast<Ref<FlowName> P::*>(&P::data), "name of the flow in `data`")
      .required()
      .field("metrics", static_cast<std::vector<Ref<Stat>> P::*>(&P::metrics),
             "statistics to report; default: all. Figures of one class are also possible, by class name: "
             "recall.yes, precision.yes, f1.yes");
}

}  // namespace tpack
