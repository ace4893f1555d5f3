#pragma once

#include <string>
#include <vector>

#include "dataflow/source/csv_features.h"
#include "dataflow/source/csv_rows.h"

namespace tpack {

/// The settings of source CSV.
struct CsvParams {
  TablePaths file;
  std::vector<NumberColumns> columns;
  std::vector<LabelColumn> labels;
  std::string delimiter = CsvForm().delimiter;
  bool header = true;
  ColumnTypes types = {};
  MissingRules missing = {};
  ColumnScales scale = {};
  ColumnClips clip = {};
  DecimalSign decimal = DecimalSign::kPoint;
  TextEncoding encoding = TextEncoding::kUtf8;
  TableFormat format = TableFormat::kByName;
  bool shuffle = true;

  CsvForm form() const { return {delimiter, header, encoding, format}; }
  /// Errors: ConfigError for what does not fit together.
  void check() const;
};

Schema<CsvParams> csv_schema();

}  // namespace tpack
