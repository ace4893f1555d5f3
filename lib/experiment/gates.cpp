#include "experiment/gates.h"

#include <cmath>

#include <nlohmann/json.hpp>

#include "core/error.h"
#include "core/text.h"
#include "system/log.h"
#include "train/scalar_order.h"

namespace tpack {

namespace {

/// The newest value of the statistic up to the step, or the best one.
std::optional<double> figure_of(const Gate& gate, const Monitors& monitors, std::optional<int64_t> of) {
  std::optional<double> figure;
  for (const auto& [step, value] : monitors.get_history(gate.name)) {
    if (gate.of_best ? !figure || is_better(value, *figure, gate.goal()) : step <= of.value_or(step))
      figure = value;
  }
  return figure;
}

}  // namespace

void check_gates(const std::vector<Gate>& gates, const StatisticGoals& provided,
                 const std::vector<std::string>& flows) {
  Diagnostics errors;
  for (const Gate& gate : gates) {
    const auto found = provided.find(gate.name);
    if (found == provided.end()) {
      errors.add(unknown_statistic({gate.name, gate.position}, names_of(provided), flows), gate.position);
    } else if (const auto& goal = found->second; goal && *goal != gate.goal()) {
      errors.add(gate.position, "gate " + gate.str() + ": " + goal_text(*goal, gate.name) + "; use " +
                                    (*goal == Goal::kMax ? ">= or >" : "<= or <"));
    }
  }
  errors.throw_if_any();
}

void check_monitor_needs(const std::vector<MonitorNeed>& needs, const StatisticGoals& provided,
                         const std::vector<std::string>& flows) {
  Diagnostics errors;
  for (const MonitorNeed& need : needs) {
    if (provided.contains(need.scalar)) continue;
    const ConfigError unknown = unknown_statistic({need.scalar, {}}, names_of(provided), flows);
    errors.add(need.position, need.who + ": " + unknown.problems()[0].text);
  }
  errors.throw_if_any();
}

std::vector<GateResult> gate_results(const std::vector<Gate>& gates, const Monitors& monitors,
                                     std::optional<int64_t> step) {
  std::vector<GateResult> results;
  for (const Gate& gate : gates) {
    const auto figure = figure_of(gate, monitors, step);
    results.push_back({gate.str(), figure, figure && gate.holds(*figure)});
  }
  return results;
}

nlohmann::ordered_json to_json(const std::vector<GateResult>& results) {
  auto list = nlohmann::ordered_json::array();
  for (const GateResult& result : results) {
    list.push_back({{"gate", result.gate}});
    if (result.value && std::isfinite(*result.value)) list.back()["value"] = *result.value;
    list.back()["holds"] = result.holds;
  }
  return list;
}

void require_gates(const std::vector<GateResult>& results) {
  std::vector<std::string> missed;
  for (const GateResult& result : results) {
    const std::string value = result.value ? short_text(*result.value) : "it has no value";
    if (result.holds)
      log::info("gate " + result.gate + " holds: " + value);
    else
      missed.push_back("gate " + result.gate + " is missed: " + value);
  }
  if (!missed.empty()) throw GateMissed(join(missed, "\n"));
}

}  // namespace tpack
