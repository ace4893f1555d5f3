#pragma once

#include <string>
#include <vector>

#include "draw/chart.h"
#include "monitor/monitor.h"

namespace tpack {

/// What one run has written.
struct RunStats {
  std::string name;
  std::vector<StatRecord> records;
};

/// Every statistic of the runs, in the order of its first value.
std::vector<std::string> statistics_of(const std::vector<RunStats>& runs);
/// The charts that show a run at a glance, by their statistics: each statistic with those that have a flow's
/// name in front of it; without a validation what the model computes.
std::vector<std::vector<std::string>> usual_panels(const std::vector<std::string>& statistics);
/// These statistics of all runs, over global_step.
Chart chart_of(const std::vector<RunStats>& runs, const std::vector<std::string>& statistics);

/// The charts that `tpack plot WORDS` shows, over global_step. A word that is a folder (or a stats.json) is a
/// run; any other is a chart: the statistics `KEY[,KEY...]` of all runs. No chart is named: one for each
/// statistic that a validation has as well (`cost`, `validation_cost`), or the first statistic.
/// Errors: DataError for a run without stats.json; ConfigError with suggestion for a key that no run has.
std::vector<Chart> run_charts(const std::vector<std::string>& words);

}  // namespace tpack
