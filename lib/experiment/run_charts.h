#pragma once

#include <string>
#include <vector>

#include "draw/chart.h"

namespace tpack {

/// The charts that `tpack plot WORDS` shows, over global_step. A word that is a folder (or a stats.json) is a
/// run; any other is a chart: the statistics `KEY[,KEY...]` of all runs. No chart is named: one for each
/// statistic that a validation has as well (`cost`, `validation_cost`), or the first statistic.
/// Errors: DataError for a run without stats.json; ConfigError with suggestion for a key that no run has.
std::vector<Chart> run_charts(const std::vector<std::string>& words);

}  // namespace tpack
