#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "experiment/check.h"
#include "search/halving.h"

namespace tpack {

/// The statistic by which runs are compared.
struct SearchMetric {
  std::string name;
  Goal goal = Goal::kMin;

  bool operator==(const SearchMetric&) const = default;
};

/// What the command line says of it.
struct MetricRequest {
  std::string name;  // empty: not given
  std::optional<Goal> goal;
  bool is_needed = true;  // false: runs are not compared, so any statistic will do
};

/// What a config says about its statistics.
struct KnownStatistics {
  StatisticGoals statistics;           // all that a run reports
  std::vector<SearchMetric> saved;     // those of MinSaver and MaxSaver, in order
  std::vector<std::string> minimized;  // by the training
  std::vector<std::string> flows;      // that are validated, perhaps
};
KnownStatistics known_statistics(CheckedExperiment& checked);

/// The metric that is asked for; else that of the first MinSaver or MaxSaver; else the minimized statistic
/// of the one flow that is validated, or of the training. The goal that is not given is that of the
/// statistic, or of the saver. Errors: ConfigError for an unknown statistic, with suggestion; where nothing
/// tells the metric or its goal, with the statistics that there are; for a goal that contradicts the
/// statistic.
SearchMetric choose_metric(const MetricRequest& request, const KnownStatistics& known);

/// The metric of a run, from the stats.json of its folder.
struct MetricValues {
  std::optional<double> best;  // of all epochs; nothing if there is no number
  std::optional<double> last;
  int64_t epochs = 0;  // the last that has statistics
};
MetricValues read_metric(const std::string& folder, const SearchMetric& metric);

/// Six significant digits: "0.906421".
std::string short_number(double value);

}  // namespace tpack
