#pragma once

#include <optional>
#include <string>
#include <vector>

#include "monitor/stat_table.h"

namespace tpack {

/// Name of the file in a run folder.
inline constexpr const char* kStatsFile = "stats.json";

/// A list of records {NAME: value, epoch_num, global_step}, one per line; NaN and infinities become null.
std::string stats_json(StatTable& table);
/// The records of a file of that form, null as NaN; nothing if it cannot be read or has another form.
std::optional<std::vector<StatRecord>> read_stats_json(const std::string& path);

}  // namespace tpack
