#include "experiment/gates.h"

#include "core/error.h"
#include "core/text.h"
#include "system/log.h"
#include "train/scalar_order.h"

namespace tpack {

namespace {

/// The newest value of the statistic, or the best one.
std::optional<double> figure_of(const Gate& gate, const Monitors& monitors) {
  if (!gate.of_best) return monitors.get_latest(gate.name);
  std::optional<double> best;
  for (const auto& [step, value] : monitors.get_history(gate.name))
    if (!best || is_better(value, *best, gate.goal())) best = value;
  return best;
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

void require_gates(const std::vector<Gate>& gates, const Monitors& monitors) {
  std::vector<std::string> missed;
  for (const Gate& gate : gates) {
    const auto figure = figure_of(gate, monitors);
    if (figure && gate.holds(*figure)) {
      log::info("gate " + gate.str() + " holds: " + shortest(*figure));
    } else {
      missed.push_back("gate " + gate.str() +
                       " is missed: " + (figure ? shortest(*figure) : "it has no value"));
    }
  }
  if (!missed.empty()) throw GateMissed(join(missed, "\n"));
}

}  // namespace tpack
