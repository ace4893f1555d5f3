#include "callbacks/flow_inference.h"

#include <algorithm>
#include <cmath>

#include "core/text.h"
#include "predict/evaluation_flow.h"
#include "system/log.h"

namespace tpack {

std::string FlowInference::identity() const {
  std::vector<std::string> parts = {fields_.data.name};
  for (const Ref<Stat>& metric : fields_.metrics) parts.push_back(metric.name);
  return join(parts, "-");
}

void FlowInference::setup(Setup& setup) {
  Run& run = setup.run();
  const Evaluator& evaluator = prepare(run, fields_, run.flow(fields_.data));
  choose_metrics(evaluator);
  for (const auto& [index, name] : chosen_)
    setup.provides(name, ScalarOrder::When::kTrigger, evaluator.goal(index));
}

void FlowInference::trigger(Run& run) {
  const Evaluator::Result result = evaluate(run);
  std::string bad = bad_input();
  for (const auto& [index, name] : chosen_) {
    const double value = result[index].second;
    if (!std::isfinite(value)) {
      log::warning(name + " is " + std::to_string(value) + (bad.empty() ? "" : ": ") + bad);
      bad.clear();  // once
    }
    run.monitors().put_scalar(name, value);
  }
}

void FlowInference::choose_metrics(const Evaluator& evaluator) {
  const std::vector<std::string>& known = evaluator.statistics();
  std::vector<Ref<Stat>> wanted = fields_.metrics;
  if (wanted.empty()) {
    for (const std::string& name : known) wanted.push_back({name});
  }
  Diagnostics errors;
  for (const Ref<Stat>& metric : wanted) {
    const auto at = std::find(known.begin(), known.end(), metric.name);
    if (at == known.end()) {
      errors.add(unknown_reference("statistic", metric.name, metric.position, known), metric.position);
    } else {
      chosen_.emplace_back(static_cast<size_t>(at - known.begin()), fields_.data.name + "_" + metric.name);
    }
  }
  errors.throw_if_any();
}

}  // namespace tpack
