#pragma once

#include <string>
#include <vector>

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
/// Checks the newest statistics, or their best values. Errors: GateMissed with every gate that was missed.
void require_gates(const std::vector<Gate>& gates, const Monitors& monitors);

}  // namespace tpack
