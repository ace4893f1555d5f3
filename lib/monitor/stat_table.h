#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "monitor/monitor.h"

namespace tpack {

/// Returns the records of a file; nothing if it is damaged or not such a file.
using ReadRecords = std::optional<std::vector<StatRecord>> (*)(const std::string& path);

/// The scalars of a run as rows of a file: one record per step with values.
class StatTable {
 public:
  StatTable() = default;
  explicit StatTable(std::vector<StatRecord> records);

  /// A second value of the same name and time replaces the first. True if it was the first.
  bool put(const std::string& name, double value, const StepStamp& at);
  const std::vector<StatRecord>& records() const { return records_; }
  /// Every name, in the order of its first value.
  const std::vector<std::string>& names() const { return names_; }
  /// The texts of `line` for all records, one after the other. `line` must depend only on the record and on
  /// names(): texts are kept for later calls until there is a new name, because a record with a successor
  /// does not change.
  std::string lines(const std::function<std::string(const StatRecord&)>& line);

  /// Starts with earlier records: the history of the checkpoint if the run resumes, else the records of the
  /// existing file if the run begins with the epoch after their last one. A file that belongs to another run
  /// or is damaged is moved away; damage is logged. Errors: ResourceError.
  void begin(const std::string& path, ReadRecords read, const RunRecord& run);

 private:
  void add_name(const std::string& name);

  std::vector<StatRecord> records_;
  std::vector<std::string> names_;
  // The text of the first `kept_` records.
  std::string kept_lines_;
  size_t kept_ = 0;
};

/// Renames a file to PATH.MMDD-HHMMSS, which it returns. Errors: ResourceError.
std::string move_away(const std::string& path);

}  // namespace tpack
