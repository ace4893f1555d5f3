#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "experiment/check.h"
#include "search/halving.h"

namespace tpack {

/// The statistic that compares runs.
struct SearchMetric {
  std::string name;
  Goal goal = Goal::kMin;

  bool operator==(const SearchMetric&) const = default;
};

/// The metric from the command line.
struct MetricRequest {
  std::string name;  // empty: not given
  std::optional<Goal> goal;
  bool is_needed = true;  // false: runs are not compared, so any statistic is possible
};

/// The statistics of a config.
struct KnownStatistics {
  StatisticGoals statistics;           // all statistics that a run reports
  std::vector<SearchMetric> saved;     // those of MinSaver and MaxSaver, in order
  std::vector<std::string> minimized;  // by the training
  std::vector<std::string> flows;      // that may be validated
};
KnownStatistics known_statistics(CheckedExperiment& checked);

/// The requested metric; otherwise the one of the first MinSaver or MaxSaver; otherwise the minimized
/// statistic of the only validated flow, or of training. The default goal is that of the statistic, or of the
/// saver. Errors: ConfigError for an unknown statistic, with a suggestion; for an unknown metric or goal,
/// with the available statistics; for a goal that contradicts the statistic.
SearchMetric choose_metric(const MetricRequest& request, const KnownStatistics& known);

/// The metric of a run, from the stats.json of its folder.
struct MetricValues {
  std::optional<double> best;  // of all epochs; empty if there is no number
  std::optional<double> last;
  int64_t epochs = 0;  // the last one with statistics
};
MetricValues read_metric(const std::string& folder, const SearchMetric& metric);

/// Six significant digits: "0.906421".
std::string short_number(double value);

}  // namespace tpack
