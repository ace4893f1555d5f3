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

FlowInference::FlowInference(InferenceFields fields, Ranks ranks, const char* ranks_are_fixed)
    : Callback(
          {.identity = fields.data.name + (fields.metrics.empty() ? "" : "-" + joined_names(fields.metrics)),
           .only_one = true,
           .ranks = ranks,
           .ranks_are_fixed = ranks_are_fixed,
           .may_end_early = {HookPhase::kTriggerEpoch}}),
      fields_(std::move(fields)) {}

void FlowInference::setup(Setup& setup) {
  Run& run = setup.run();
  const Evaluator& evaluator = prepare(run, fields_, run.flow(fields_.data));
  choose_metrics(evaluator);
  for (const auto& [index, name] : chosen_)
    setup.provides(name, ScalarOrder::When::kTrigger, evaluator.goal(index));
  for (const auto& [figure, name] : of_classes_)
    setup.provides(name, ScalarOrder::When::kTrigger, Goal::kMax);
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
  for (const auto& [figure, name] : of_classes_) {
    for (const ClassReport& report : evaluation.classes)
      if (const auto value = report.figure(figure)) run.monitors().put_scalar(name, *value);
  }
  if (run.restorable_step() == last_.step && last_.weights.empty()) restorable_ = std::move(last_);
  last_ = {std::move(evaluation.classes), run.global_step(), run.borrowed_weights()};
  for (const ClassReport& report : last_.all) {
    if (report.has_matrix()) run.monitors().put_image(report_name(report), matrix_image(report.matrix()));
  }
}

/// "validation_confusion", with the term of the cost where there are several.
std::string FlowInference::report_name(const ClassReport& report) const {
  const std::string name = fields_.data.name + (report.has_matrix() ? "_confusion" : "_labels");
  return last_.all.size() == 1 ? name : name + "_" + report.term();
}

/// Null if they were evaluated in another process.
const FlowInference::Reports* FlowInference::of_kept_weights(const Run& run) const {
  const auto kept = run.restored_step();
  if (!kept || !last_.weights.empty() || last_.step == *kept) return &last_;
  return restorable_.step == *kept && !restorable_.all.empty() ? &restorable_ : nullptr;
}

void FlowInference::after_train(Run& run) {
  if (run.rank() != 0 || last_.all.empty()) return;
  if (const Reports* reports = of_kept_weights(run)) return show(run, *reports);
  log::info("no table of " + fields_.data.name +
            " by class: these weights were evaluated before the run was resumed; `tpack eval` shows it");
}

void FlowInference::show(const Run& run, const Reports& reports) const {
  std::string of = " after global_step " + std::to_string(reports.step);
  if (!reports.weights.empty()) of += ", of " + reports.weights;
  if (run.restored_step() == reports.step) of += ", the weights of the model now";
  for (const ClassReport& report : reports.all) {
    log::info(fields_.data.name + of + ", by class" +
              (reports.all.size() == 1 ? "" : " of " + report.term()) + "\n" + report.str());
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
  const std::vector<std::string> figures = evaluator.class_figures();
  std::vector<Ref<Stat>> wanted = fields_.metrics;
  if (wanted.empty()) {
    for (const std::string& name : known) wanted.push_back({name});
  }
  std::vector<std::string> with_figures = known;  // for who means one
  with_figures.insert(with_figures.end(), figures.begin(), figures.end());
  Diagnostics errors;
  for (const Ref<Stat>& metric : wanted) {
    const auto at = std::find(known.begin(), known.end(), metric.name);
    const std::string scalar = fields_.data.name + "_" + metric.name;
    if (std::find(figures.begin(), figures.end(), metric.name) != figures.end()) {
      of_classes_.emplace_back(metric.name, scalar);
    } else if (at == known.end()) {
      errors.add(unknown_reference("statistic", metric.name, metric.position,
                                   metric.name.find('.') == std::string::npos ? known : with_figures),
                 metric.position);
    } else {
      chosen_.emplace_back(static_cast<size_t>(at - known.begin()), scalar);
    }
  }
  errors.throw_if_any();
}

}  // namespace tpack
