#include "monitor/stat_table.h"

#include <algorithm>
#include <filesystem>

#include "core/clock.h"
#include "core/error.h"
#include "system/log.h"

namespace tpack {

StatTable::StatTable(std::vector<StatRecord> records) : records_(std::move(records)) {
  for (const StatRecord& record : records_) {
    for (const auto& [name, value] : record.scalars) add_name(name);
  }
}

void StatTable::add_name(const std::string& name) {
  if (std::find(names_.begin(), names_.end(), name) != names_.end()) return;
  names_.push_back(name);
  kept_lines_.clear();
  kept_ = 0;
}

bool StatTable::put(const std::string& name, double value, const StepStamp& at) {
  if (records_.empty() || !(records_.back().at == at)) records_.push_back({at, {}});
  auto& scalars = records_.back().scalars;
  const auto there =
      std::find_if(scalars.begin(), scalars.end(), [&](const auto& s) { return s.first == name; });
  if (there != scalars.end()) {
    there->second = value;
    return false;
  }
  scalars.emplace_back(name, value);
  add_name(name);
  return true;
}

std::string StatTable::lines(const std::function<std::string(const StatRecord&)>& line) {
  if (records_.empty()) return "";
  for (; kept_ + 1 < records_.size(); ++kept_) kept_lines_ += line(records_[kept_]);
  return kept_lines_ + line(records_.back());
}

void StatTable::begin(const std::string& path, ReadRecords read, const RunRecord& run) {
  *this = StatTable(run.history);
  if (!std::filesystem::exists(path)) return;
  auto earlier = read(path);
  if (earlier && run.resumed) return;  // values after the history belong to steps that will run again
  if (earlier && (earlier->empty() || earlier->back().at.epoch + 1 == run.starting_epoch)) {
    *this = StatTable(std::move(*earlier));
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
