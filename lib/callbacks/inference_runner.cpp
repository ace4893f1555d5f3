#include <algorithm>
#include <cmath>

#include "core/log.h"
#include "core/text.h"
#include "predict/evaluation_flow.h"
#include "predict/evaluator.h"
#include "train/callback.h"

namespace tpack {
namespace {

struct InferenceRunnerParams {
  Ref<FlowName> data;
  std::vector<Ref<Stat>> metrics;
};

/// Source: tensorpack callbacks/inference_runner.py, InferenceRunner.
class InferenceRunner final : public Callback {
 public:
  using Params = InferenceRunnerParams;
  static Schema<Params> schema() {
    return Schema<Params>(
               "Runs the model over all samples of another flow, each exactly once, and reports FLOW_METRIC.")
        .example("InferenceRunner: {data: validation, metrics: [cost, accuracy]}")
        .field("data", &Params::data, "name of the flow in `data`")
        .required()
        .field("metrics", &Params::metrics, "statistics to report; default: all");
  }
  explicit InferenceRunner(Params p) : p_(std::move(p)) {}

  std::string identity() const override {
    std::vector<std::string> parts = {p_.data.name};
    for (const Ref<Stat>& metric : p_.metrics) parts.push_back(metric.name);
    return join(parts, "-");
  }
  bool only_one() const override { return true; }
  void setup(Setup& setup) override {
    Run& run = setup.run();
    evaluator_ =
        std::make_unique<Evaluator>(p_.data.name, run.tower_place(), flow(run), run.seed(), p_.data.position);
    const auto train = run.flows().find("train");
    if (train != run.flows().end())
      check_same_classes(train->second, flow(run), p_.data.name, p_.data.position);
    choose_metrics();
    for (const auto& [index, name] : chosen_) setup.provides(name);
  }
  void compile(Run& /*run*/) override { evaluator_->compile(); }
  void trigger(Run& run) override {
    const Evaluator::Result result = evaluator_->run(run.stop_token());
    for (const auto& [index, name] : chosen_) {
      const double value = result[index].second;
      if (!std::isfinite(value)) log::warning(name + " is " + std::to_string(value));
      run.monitors().put_scalar(name, value);
    }
  }

 private:
  const DataFlow& flow(const Run& run) const {
    const auto found = run.flows().find(p_.data.name);
    if (found != run.flows().end()) return found->second;
    std::vector<std::string> known;
    for (const auto& [name, flow] : run.flows()) known.push_back(name);
    throw unknown_reference("flow", p_.data.name, p_.data.position, known);
  }

  void choose_metrics() {
    const std::vector<std::string>& known = evaluator_->statistics();
    std::vector<Ref<Stat>> wanted = p_.metrics;
    if (wanted.empty()) {
      for (const std::string& name : known) wanted.push_back({name});
    }
    Diagnostics errors;
    for (const Ref<Stat>& metric : wanted) {
      const auto at = std::find(known.begin(), known.end(), metric.name);
      if (at == known.end()) {
        errors.add(unknown_reference("statistic", metric.name, metric.position, known), metric.position);
      } else {
        chosen_.emplace_back(static_cast<size_t>(at - known.begin()), p_.data.name + "_" + metric.name);
      }
    }
    errors.throw_if_any();
  }

  Params p_;
  std::unique_ptr<Evaluator> evaluator_;
  std::vector<std::pair<size_t, std::string>> chosen_;  // (number of the statistic, name of the scalar)
};

TPACK_REGISTER(Callback, InferenceRunner, "InferenceRunner");

}  // namespace
}  // namespace tpack
