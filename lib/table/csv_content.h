#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "table/csv_labels.h"
#include "table/csv_rows.h"
#include "table/csv_values.h"

namespace tpack {

/// The rows of a table, or of a part of it, by component.
struct CsvContent final : CsvRows::Part {
  std::vector<std::unique_ptr<CsvValues>> values;
  std::vector<CsvLabels> labels;
  std::vector<std::string> label_columns;  // names, of each of the labels
  const MissingRules* missing = nullptr;
  CsvNumberReader reader{FieldStyle()};
  std::vector<int64_t> lines;         // of each row
  std::vector<size_t> first_rows;     // of each file
  std::map<size_t, std::string> bad;  // reasons of bad rows

  size_t rows() const { return lines.size(); }
  /// The same columns without rows, with room for about `rows`; for `append`. The rules must outlive it.
  std::unique_ptr<CsvContent> part(size_t rows) const;
  /// Appends the rows of a part.
  void append(CsvContent& part, CsvRows::PlaceOfPart place);
  /// To a part.
  void add(const CsvRow& row) override;

 private:
  std::string_view label_in(const std::vector<std::string_view>& fields, size_t label) const;
};

}  // namespace tpack
