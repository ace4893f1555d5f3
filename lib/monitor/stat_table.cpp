#include "monitor/stat_table.h"

#include <algorithm>
#include <filesystem>

#include "core/clock.h"
#include "core/error.h"
#include "core/log.h"

namespace tpack {

bool StatTable::put(const std::string& name, double value, const Moment& at) {
  if (records_.empty() || !(records_.back().at == at)) records_.push_back({at, {}});
  auto& scalars = records_.back().scalars;
  const auto there =
      std::find_if(scalars.begin(), scalars.end(), [&](const auto& s) { return s.first == name; });
  if (there != scalars.end()) {
    there->second = value;
    return false;
  }
  scalars.emplace_back(name, value);
  return true;
}

std::vector<std::string> StatTable::names() const {
  std::vector<std::string> all;
  for (const StatRecord& record : records_) {
    for (const auto& [name, value] : record.scalars) {
      if (std::find(all.begin(), all.end(), name) == all.end()) all.push_back(name);
    }
  }
  return all;
}

void StatTable::begin(const std::string& path, ReadRecords read, const RunRecord& run) {
  records_ = run.history;
  if (!std::filesystem::exists(path)) return;
  auto earlier = read(path);
  if (earlier && run.resumed) return;  // what it has beyond the history is of steps that come again
  if (earlier && (earlier->empty() || earlier->back().at.epoch + 1 == run.starting_epoch)) {
    records_ = std::move(*earlier);
    return;
  }
  const std::string kept = move_away(path);
  if (!earlier)
    log::warning(path + " is damaged or not a file of statistics; it is kept as " + kept +
                 ", and a new one is started");
}

std::string move_away(const std::string& path) {
  const std::string stamp = time_stamp().substr(4);  // without the year, as tensorpack writes it
  std::string kept = path + "." + stamp;
  std::error_code failure;
  std::filesystem::rename(path, kept, failure);
  if (failure) throw ResourceError(path + ": cannot be renamed: " + failure.message());
  return kept;
}

}  // namespace tpack
