#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "table/csv_settings.h"

namespace tpack {

/// Facts about the fields of a column.
struct ColumnSummary {
  std::string name;
  ColumnType type = ColumnType::kIgnore;  // treatment in `auto`
  std::string why = {};                   // why it is not read, or how it is read; may be empty
  std::vector<std::string> examples = {};
  int64_t missing = 0;
  int64_t distinct = 0;
  bool has_more_distinct = false;  // than were counted
  // For numbers; for dates, the first and the last one. Nothing for other columns.
  std::optional<std::string> low = {};
  std::optional<std::string> median = {};
  std::optional<std::string> high = {};
};

/// The columns of a table, shown by `tpack data schema`.
struct TableSchema {
  std::string name;  // of its files
  int64_t rows = 0;
  int64_t bad_rows = 0;        // rows that do not match the header
  std::string first_bad = {};  // "a.csv:3: 2 fields, but the header has 3"
  std::string advice = {};     // if its header does not look like one: CsvHeader::advice
  std::vector<ColumnSummary> columns = {};

  /// A table for users.
  std::string str() const;
  nlohmann::ordered_json to_json() const;
  /// The item of a source for a config: `settings` of source CSV, with `columns` and all `types`.
  std::string yaml(const ConfigNode& settings) const;
};

/// Reads a table with these settings of source CSV. Errors: ConfigError, DataError.
TableSchema table_schema(const CsvParams& settings);

}  // namespace tpack
