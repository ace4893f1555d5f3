#include "callbacks/flow_inference.h"

#include <algorithm>
#include <cmath>

#include <nlohmann/json.hpp>

#include "callbacks/extra_file.h"
#include "core/text.h"
#include "draw/matrix.h"
#include "predict/evaluation_flow.h"
#include "system/file_io.h"
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
  Evaluator::Evaluation evaluation = evaluate(run);
  const Evaluator::Result& result = evaluation.statistics;
  std::string bad = bad_input();
  for (const auto& [index, name] : chosen_) {
    const double value = result[index].second;
    if (!std::isfinite(value)) {
      log::warning(name + " is " + std::to_string(value) + (bad.empty() ? "" : ": ") + bad);
      bad.clear();  // once
    }
    run.monitors().put_scalar(name, value);
  }
  reports_ = std::move(evaluation.classes);
  reported_step_ = run.global_step();
  for (const ClassReport& report : reports_) {
    if (report.has_matrix()) run.monitors().put_image(report_name(report), matrix_image(report.matrix()));
  }
}

/// "validation_confusion", with the term of the cost where there are several.
std::string FlowInference::report_name(const ClassReport& report) const {
  const std::string name = fields_.data.name + (report.has_matrix() ? "_confusion" : "_labels");
  return reports_.size() == 1 ? name : name + "_" + report.term();
}

void FlowInference::after_train(Run& run) {
  if (run.rank() != 0) return;
  for (const ClassReport& report : reports_) {
    log::info(fields_.data.name + " after global_step " + std::to_string(reported_step_) + ", by class" +
              (reports_.size() == 1 ? "" : " of " + report.term()) + "\n" + report.str());
    if (run.folder().empty()) continue;
    const std::string path = run.folder() + "/reports/" + report_name(report);
    write_extra_file(path + ".json",
                     [&] { write_whole_file(path + ".json", report.to_json().dump(1) + "\n"); });
    if (!report.has_matrix()) continue;
    write_extra_file(path + ".svg", [&] { write_whole_file(path + ".svg", svg_matrix(report.matrix())); });
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
