#pragma once

#include <string>
#include <vector>

#include "draw/chart.h"
#include "monitor/monitor.h"

namespace tpack {

/// The statistics of one run.
struct RunStats {
  std::string name;
  std::vector<StatRecord> records;
};

/// All statistics of the runs, in the order of their first values.
std::vector<std::string> statistics_of(const std::vector<RunStats>& runs);
/// The overview charts of a run, as lists of statistics: each statistic with its counterparts, prefixed by a
/// flow's name; without a validation, the statistics of the model.
std::vector<std::vector<std::string>> usual_panels(const std::vector<std::string>& statistics);
/// These statistics of all runs, over global_step.
Chart chart_of(const std::vector<RunStats>& runs, const std::vector<std::string>& statistics);

/// The charts that `tpack plot WORDS` shows, over global_step. A word that is a folder (or a stats.json) is a
/// run; any other word is a chart: the statistics `KEY[,KEY...]` of all runs. Default charts: one for each
/// statistic that a validation also has (`cost`, `validation_cost`), or the first statistic. Errors:
/// DataError for a run without stats.json; ConfigError with a suggestion for an unknown key.
std::vector<Chart> run_charts(const std::vector<std::string>& words);

}  // namespace tpack
