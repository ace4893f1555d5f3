#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "table/csv_settings.h"

namespace tpack {

/// What the fields of a column are.
struct ColumnSummary {
  std::string name;
  ColumnType type = ColumnType::kIgnore;  // as columns that are `auto` take it
  std::string why = {};                   // it is not read, or how; empty if there is nothing to say
  std::vector<std::string> examples = {};
  int64_t missing = 0;
  int64_t distinct = 0;
  bool has_more_distinct = false;  // than were counted
  // Of numbers; of dates the first and the last one. Nothing for other columns.
  std::optional<std::string> low = {};
  std::optional<std::string> median = {};
  std::optional<std::string> high = {};
};

/// The columns of a table, as `tpack data schema` shows them.
struct TableSchema {
  std::string name;  // of its files
  int64_t rows = 0;
  int64_t bad_rows = 0;        // whose fields do not fit the header
  std::string first_bad = {};  // "a.csv:3: 2 fields, but the header has 3"
  std::string advice = {};     // if its header is none: CsvHeader::advice
  std::vector<ColumnSummary> columns = {};

  /// A table for people.
  std::string str() const;
  nlohmann::ordered_json to_json() const;
  /// The item of a source for a config: `settings` of source CSV, with `columns` and all `types`.
  std::string yaml(const ConfigNode& settings) const;
};

/// Reads a table with these settings of source CSV. Errors: ConfigError, DataError.
TableSchema table_schema(const CsvParams& settings);

}  // namespace tpack
