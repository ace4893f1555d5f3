#include <cstdlib>
#include <filesystem>
#include <optional>
#include <utility>

#include "core/registry.h"
#include "core/text.h"
#include "monitor/monitor.h"
#include "monitor/stat_table.h"
#include "monitor/write_pace.h"
#include "system/file_io.h"
#include "system/log.h"

namespace tpack {
namespace {

constexpr const char* kCsvFile = "stats.csv";
constexpr const char* kHeader = "epoch_num,global_step";

/// The rows of a whole file, without quotes.
std::vector<std::vector<std::string>> parse_rows(const std::string& text) {
  std::vector<std::vector<std::string>> rows;
  std::vector<std::string> row{""};
  bool quoted = false;
  for (size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    const bool doubled = quoted && c == '"' && at + 1 < text.size() && text[at + 1] == '"';
    if (doubled) ++at;
    if (c == '"' && !doubled) {
      quoted = !quoted;
    } else if (c == ',' && !quoted) {
      row.emplace_back();
    } else if (c == '\n' && !quoted) {
      rows.push_back(std::exchange(row, {""}));
    } else {
      row.back() += c;
    }
  }
  return rows;
}

std::optional<double> number(const std::string& text) {
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  return text.empty() || *end != '\0' ? std::nullopt : std::optional(value);
}

/// Nothing for a row that tpack would not write.
std::optional<StatRecord> to_record(const std::vector<std::string>& header,
                                    const std::vector<std::string>& row) {
  const bool is_row = row.size() == header.size();
  const auto epoch = is_row ? number(row[0]) : std::nullopt;
  const auto step = is_row ? number(row[1]) : std::nullopt;
  if (!epoch || !step) return std::nullopt;
  StatRecord record{{static_cast<int64_t>(*epoch), static_cast<int64_t>(*step)}, {}};
  for (size_t i = 2; i < header.size(); ++i) {
    if (row[i].empty()) continue;
    const auto value = number(row[i]);
    if (!value) return std::nullopt;
    record.scalars.emplace_back(header[i], *value);
  }
  return record;
}

/// The records of the file; empty if tpack did not write it.
std::optional<std::vector<StatRecord>> read_csv(const std::string& path) {
  const auto text = read_whole_file(path);
  if (!text || !text->starts_with(kHeader) || !text->ends_with('\n')) return std::nullopt;
  const auto rows = parse_rows(*text);
  if (rows.empty()) return std::nullopt;
  std::vector<StatRecord> records;
  for (size_t i = 1; i < rows.size(); ++i) {
    auto record = to_record(rows[0], rows[i]);
    if (!record) return std::nullopt;
    records.push_back(std::move(*record));
  }
  return records;
}

std::string row_of(const StatRecord& record, const std::vector<std::string>& names) {
  std::string row = std::to_string(record.at.epoch) + "," + std::to_string(record.at.global_step);
  for (const std::string& name : names) {
    row += ',';
    for (const auto& [key, value] : record.scalars) {
      if (key == name) row += csv_field(value);
    }
  }
  return row + "\n";
}

/// The whole file is written again after each epoch (see WritePace), because a scalar that appears later adds
/// a column.
class Csv final : public Monitor {
 public:
  using Params = NoParams;
  static Schema<Params> schema() {
    return Schema<Params>(
        "Writes stats.csv: one row per step that has values, one column per scalar. A resumed run starts "
        "with the history in its checkpoint; a damaged file is kept as stats.csv.MMDD-HHMMSS.");
  }
  explicit Csv(Params /*p*/) {}

  void open(const RunRecord& run) override {
    if (run.folder.empty()) {
      log::warning("CSV writes nothing: the run has no log folder");
      return;
    }
    path_ = (std::filesystem::path(run.folder) / kCsvFile).string();
    table_.begin(path_, read_csv, run);
  }
  void put_scalar(const std::string& name, double value, const StepStamp& at) override {
    table_.put(name, value, at);
  }
  void end_epoch(const StepStamp& /*at*/) override {
    if (pace_.is_due()) write();
  }
  void close() override { write(); }

 private:
  void write() {
    if (path_.empty()) return;
    pace_.run([this] { return write_rows(); });
  }
  size_t write_rows() {
    std::string text = kHeader;
    for (const std::string& name : table_.names()) text += "," + csv_field(name);
    text += '\n';
    text += table_.lines([&](const StatRecord& record) { return row_of(record, table_.names()); });
    write_whole_file(path_, text);
    return text.size();
  }

  std::string path_;  // empty: no log folder
  StatTable table_;
  WritePace pace_;
};

TPACK_REGISTER(Monitor, Csv, "CSV");

}  // namespace
}  // namespace tpack
