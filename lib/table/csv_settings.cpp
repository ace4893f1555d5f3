#include "table/csv_settings.h"

#include <algorithm>

#include "core/error.h"

namespace tpack {

Schema<CsvParams> csv_schema() {
  return Schema<CsvParams>(
             "Reads numbers and class names from CSV files or JSON lines, one sample per row. The section "
             "`split` of a "
             "config divides the rows "
             "into parts for training and validation.")
      .example("CSV: {file: iris.csv, columns: {x: [\"sepal_.*\", petal_length]}, labels: {label: species}}")
      .field("file", &CsvParams::file,
             "the file, a list of files, or a pattern such as data/part-*.csv (sorted by name); all files "
             "must have the same columns and may be compressed with gzip or Zstandard")
      .required()
      .field("columns", &CsvParams::columns,
             "columns of numbers by component, as float32: one name for a number, a list or a regular "
             "expression for whole names for a vector. {x: auto} makes a vector of all other columns of any "
             "type: categories become one-hot, numbers become (x - mean) / deviation of data.train; other "
             "flows use the columns found in data.train, by name")
      .field("types", &CsvParams::types,
             "types of columns of `auto` that are guessed wrong: {Pclass: category, Ticket: ignore}; number, "
             "category, date, bool (true/false, yes/no, t/f, y/n, 1/0), id (of the row; not read) or ignore")
      .field("scale", &CsvParams::scale,
             "scale of numbers of `auto`, for all or by column: {fare: log1p, age: min_max}. standardize "
             "(the default): (x - mean) / deviation; log1p: the same for log(1 + x); min_max: to 0..1; "
             "quantile: ranks, mapped to a normal distribution; none. All statistics come from data.train")
      .field("clip", &CsvParams::clip,
             "limits of numbers of `auto`: 5 limits all scaled numbers to -5..5; {fare: [0, 300]} limits the "
             "numbers in the file")
      .field("labels", &CsvParams::labels,
             "columns of class names by component; labels are int32, from 0, in the order of the sorted "
             "names of data.train; {label: {column: species, classes: [...]}} sets another order. A list of "
             "columns is a set of labels (multi-label): a float32 vector with 0, 1 or a number between for "
             "each, named after the columns")
      .field("delimiter", &CsvParams::delimiter, CsvForm::kDelimiterDoc)
      .field("header", &CsvParams::header,
             "true: the first row has the names of the columns; false: their names are 0, 1, 2, ...")
      .field("missing", &CsvParams::missing,
             "replacement for missing values (empty, NA, NaN, null, ? and `na_values`): a number, or mean, "
             "median or most_common of data.train, also by column: {Age: median, Embarked: S}; default: such "
             "rows are bad samples, except for columns of `auto` (docs/tables.md)")
      .field("na_values", &CsvParams::na_values,
             "more words or numbers that mean a missing value: unknown, [-, unknown], or by column: {age: "
             "-999}. In columns of `auto`, a word that is the only text among numbers or dates counts as "
             "missing automatically")
      .field("decimal", &CsvParams::decimal, kDecimalDoc)
      .field("dates", &CsvParams::dates,
             "order of day and month in dates such as 05/06/2024 in columns of `auto`; auto: inferred from "
             "other dates of the column; an ambiguous column is not read")
      .field("encoding", &CsvParams::encoding, "encoding of the text: utf-8, latin1 (ISO 8859-1) or utf-16")
      .field("format", &CsvParams::format,
             "jsonl: one object per line, whose keys are columns: {\"x\": 1, \"tags\": [2, 3]} has x, tags.0 "
             "and tags.1; missing keys and null are missing values, true and false are 1 and 0; auto: jsonl "
             "for files named .jsonl or .ndjson, else csv")
      .field("shuffle", &CsvParams::shuffle, "use a new order in each pass");
}

void CsvParams::check() const {
  if (columns.empty() && labels.empty())
    throw ConfigError("CSV: no columns; set 'columns', such as {x: [width, height], y: price}, or 'labels'");
  form().check("CSV");
  const bool has_commas = std::any_of(file.all.begin(), file.all.end(), [&](const Ref<Path>& path) {
    return form().delimiter_of(path.name) == ',' && !form().is_jsonl(path.name);
  });
  if (decimal == DecimalSign::kComma && has_commas)
    throw ConfigError(R"(CSV: 'decimal' and 'delimiter' are both a comma; set delimiter: ";" or tab)");
  for (const NumberColumns& numbers : columns) {
    for (const LabelColumn& label : labels) {
      if (numbers.component == label.component)
        throw ConfigError(label.column.position, "CSV: component '" + label.component +
                                                     "' is in 'columns' and in 'labels'; rename one");
    }
  }
  const auto autos = std::count_if(columns.begin(), columns.end(), is_auto);
  if (autos > 1) throw ConfigError("CSV: 'columns' has several 'auto' components; only one is allowed");
  if (autos == 0 && !types.all.empty())
    throw ConfigError(types.position, "CSV: 'types' applies only to the columns of an 'auto' component");
  if (autos == 0 && !scale.is_default())
    throw ConfigError(scale.position,
                      "CSV: 'scale' applies only to the columns of an 'auto' component; for others, use the "
                      "map Standardize");
  if (autos == 0 && !clip.empty())
    throw ConfigError(clip.position, "CSV: 'clip' applies only to the columns of an 'auto' component");
}

}  // namespace tpack
