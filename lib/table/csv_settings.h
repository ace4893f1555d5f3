#pragma once

#include <string>
#include <vector>

#include "table/csv_features.h"
#include "table/csv_rows.h"

namespace tpack {

/// The settings of source CSV.
struct CsvParams {
  FilePatterns file;
  std::vector<NumberColumns> columns;
  std::vector<LabelColumn> labels;
  std::string delimiter = CsvForm().delimiter;
  bool header = true;
  ColumnTypes types = {};
  MissingRules missing = {};
  NaValues na_values = {};
  ColumnScales scale = {};
  ColumnClips clip = {};
  DecimalSign decimal = DecimalSign::kPoint;
  DateOrder dates = DateOrder::kAuto;
  TextEncoding encoding = TextEncoding::kUtf8;
  TableFormat format = TableFormat::kByName;
  bool shuffle = true;

  CsvForm form() const { return {delimiter, header, encoding, format, na_values}; }
  /// The style of values in these rows. JSON uses a point.
  FieldStyle style(const CsvRows& rows) const {
    if (rows.are_jsonl()) return {DecimalSign::kPoint, ',', dates};
    return {decimal, form().delimiter_of(rows.files()[0]), dates};
  }
  /// Errors: ConfigError for conflicting settings.
  void check() const;
};

Schema<CsvParams> csv_schema();

}  // namespace tpack
