#pragma once

#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "experiment/experiment_config.h"
#include "monitor/monitors.h"

namespace tpack {

/// Rejects gates of statistics that are not reported, and gates in the wrong direction, such as an upper
/// bound of an accuracy. Errors: ConfigError with suggestions.
void check_gates(const std::vector<Gate>& gates, const StatisticGoals& provided,
                 const std::vector<std::string>& flows = {});
/// A scalar that a monitor needs (Monitor::needed_scalars).
struct MonitorNeed {
  std::string scalar;
  std::string who;  // for messages
  Position position = {};
};
/// Rejects monitors that need scalars that are not reported. Errors: ConfigError with suggestions.
void check_monitor_needs(const std::vector<MonitorNeed>& needs, const StatisticGoals& provided,
                         const std::vector<std::string>& flows = {});
/// The result of a gate.
struct GateResult {
  std::string gate;             // "validation_accuracy >= 0.9"
  std::optional<double> value;  // nothing: the statistic has no value
  bool holds = false;
};
/// Results for the newest values, or for those of `step`, whose weights the model has; or for the best ones.
std::vector<GateResult> gate_results(const std::vector<Gate>& gates, const Monitors& monitors,
                                     std::optional<int64_t> step = {});
/// [{"gate": ..., "value": ..., "holds": ...}, ...], without values that are not numbers.
nlohmann::ordered_json to_json(const std::vector<GateResult>& results);
/// Errors: GateMissed with every missed gate.
void require_gates(const std::vector<GateResult>& results);

}  // namespace tpack
