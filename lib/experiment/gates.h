#pragma once

#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "experiment/experiment_config.h"
#include "monitor/monitors.h"

namespace tpack {

/// Rejects gates of statistics that nothing reports, and those that bad values meet: an upper bound of an
/// accuracy. Errors: ConfigError with suggestions.
void check_gates(const std::vector<Gate>& gates, const StatisticGoals& provided,
                 const std::vector<std::string>& flows = {});
/// A scalar without which a monitor does nothing (Monitor::needed_scalars).
struct MonitorNeed {
  std::string scalar;
  std::string who;  // for messages
  Position position = {};
};
/// Rejects monitors that need what nothing reports. Errors: ConfigError with suggestions.
void check_monitor_needs(const std::vector<MonitorNeed>& needs, const StatisticGoals& provided,
                         const std::vector<std::string>& flows = {});
/// What came of a gate.
struct GateResult {
  std::string gate;             // "validation_accuracy >= 0.9"
  std::optional<double> value;  // nothing: the statistic has none
  bool holds = false;
};
/// Of the newest values, or of those of `step`, whose weights the model has; or of the best ones.
std::vector<GateResult> gate_results(const std::vector<Gate>& gates, const Monitors& monitors,
                                     std::optional<int64_t> step = {});
/// [{"gate": ..., "value": ..., "holds": ...}, ...], without values that are no numbers.
nlohmann::ordered_json to_json(const std::vector<GateResult>& results);
/// Errors: GateMissed with every gate that was missed.
void require_gates(const std::vector<GateResult>& results);

}  // namespace tpack
