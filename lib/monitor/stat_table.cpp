#include "monitor/stat_table.h"

#include <algorithm>
#include <filesystem>

#include "core/clock.h"
#include "core/error.h"
#include "core/log.h"

namespace tpack {

void StatTable::put(const std::string& name, double value, const Moment& at) {
  if (records_.empty() || !(records_.back().at == at)) records_.push_back({at, {}});
  auto& scalars = records_.back().scalars;
  const auto there =
      std::find_if(scalars.begin(), scalars.end(), [&](const auto& s) { return s.first == name; });
  if (there != scalars.end()) {
    there->second = value;
  } else {
    scalars.emplace_back(name, value);
  }
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

bool StatTable::take_over(std::vector<StatRecord> earlier, const RunRecord& run) {
  if (run.resumed) {
    std::erase_if(earlier, [&](const StatRecord& r) { return r.at.global_step > run.global_step; });
  } else if (!earlier.empty() && earlier.back().at.epoch + 1 != run.starting_epoch) {
    return false;
  }
  records_ = std::move(earlier);
  return true;
}

void StatTable::take_over_file(const std::string& path, ReadRecords read, const RunRecord& run) {
  if (!std::filesystem::exists(path)) {
    if (run.resumed && run.global_step > 0)
      log::warning(path + " is gone; the new one begins behind step " + std::to_string(run.global_step));
    return;
  }
  auto earlier = read(path);
  const bool damaged = !earlier;
  if (earlier && take_over(std::move(*earlier), run)) return;
  const std::string kept = move_away(path);
  if (damaged)
    log::warning(path + " is damaged or of something else; it is kept as " + kept + ", a new one begins");
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
