#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "monitor/monitor.h"

namespace tpack {

/// The scalars of one moment, in the order in which they came.
struct StatRecord {
  Moment at;
  std::vector<std::pair<std::string, double>> scalars;

  bool operator==(const StatRecord&) const = default;
};

/// Gives the records of a file; nothing where it is damaged or of something else.
using ReadRecords = std::optional<std::vector<StatRecord>> (*)(const std::string& path);

/// The scalars of a run as a file of rows holds them: one record a step that brought values.
class StatTable {
 public:
  /// A second value of one name and step replaces the first.
  void put(const std::string& name, double value, const Moment& at);
  const std::vector<StatRecord>& records() const { return records_; }
  /// Every name, in the order of its first value.
  std::vector<std::string> names() const;

  /// Takes over the records of an earlier process that wrote the same file. False where they are of another
  /// run (this one neither resumes nor begins with the epoch behind the last): they are then not taken over.
  /// Records behind the step at which the run resumes are void, for that run repeats them.
  bool take_over(std::vector<StatRecord> earlier, const RunRecord& run);
  /// The same for the file of these records. A file that is of another run or damaged is moved away; that it
  /// is damaged, or gone though the run resumes, is logged. Errors: ResourceError.
  void take_over_file(const std::string& path, ReadRecords read, const RunRecord& run);

 private:
  std::vector<StatRecord> records_;
};

/// Renames a file to PATH.MMDD-HHMMSS, which it returns. Errors: ResourceError.
std::string move_away(const std::string& path);

}  // namespace tpack
