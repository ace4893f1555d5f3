#include <memory>

#include "callbacks/flow_inference.h"

namespace tpack {
namespace {

struct InferenceRunnerParams : InferenceFields {};

/// Source: tensorpack callbacks/inference_runner.py, InferenceRunner.
class InferenceRunner final : public FlowInference {
 public:
  using Params = InferenceRunnerParams;
  static Schema<Params> schema() {
    return inferring(Schema<Params>(
                         "Runs the model over all samples of another flow, each exactly once, and reports "
                         "FLOW_METRIC. Uses the first tower."))
        .example("InferenceRunner: {data: validation, metrics: [cost, accuracy]}");
  }
  explicit InferenceRunner(Params p) : FlowInference(std::move(p)) {}

  void compile(Run& /*run*/) override { evaluator_->compile(); }

 private:
  const Evaluator& prepare(Run& run, const InferenceFields& fields, const DataFlow& flow) override {
    const auto& [name, position] = fields.data;
    evaluator_ = std::make_unique<Evaluator>(name, run.model_handle(), flow, run.seed(), position);
    return *evaluator_;
  }
  Evaluator::Evaluation evaluate(Run& run) override {
    evaluator_->run_part(run.stop_token());
    return evaluator_->evaluation_of(evaluator_->batches(), evaluator_->tallies());
  }
  std::string bad_input() const override { return evaluator_->bad_input(); }

  std::unique_ptr<Evaluator> evaluator_;
};

TPACK_REGISTER(Callback, InferenceRunner, "InferenceRunner");

}  // namespace
}  // namespace tpack
