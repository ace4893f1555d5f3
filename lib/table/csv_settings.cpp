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
             "the file, a list of files, or a pattern such as data/part-*.csv (sorted by name), whose files "
             "have the same "
             "columns; a file may be packed by gzip or Zstandard")
      .required()
      .field("columns", &CsvParams::columns,
             "columns of numbers by component: a name gives a number, a list or a regular expression for "
             "whole names gives a vector; float32; {x: auto} makes a vector of all other columns, whatever "
             "they "
             "have: categories get a place each, numbers become (x - mean) / deviation of data.train. Other "
             "flows have the columns that data.train found, by their names")
      .field(
          "types", &CsvParams::types,
          "what columns of `auto` have where the guess is wrong: {Pclass: category, Ticket: ignore}; "
          "number, category, date, bool (true and false, yes and no, t and f, y and n, 1 and 0), id (of the "
          "row; not read) or ignore")
      .field("scale", &CsvParams::scale,
             "what becomes of numbers of `auto`, for all or by column: {fare: log1p, age: min_max}. "
             "standardize (the default): (x - "
             "mean) / deviation; log1p: the same of log(1 + x); min_max: 0 to 1; quantile: ranks, spread as "
             "a normal "
             "distribution; none. All of it from data.train")
      .field("clip", &CsvParams::clip,
             "limits of numbers of `auto`: 5 for all that are scaled, which are then from -5 to 5; or {fare: "
             "[0, 300]} for the "
             "numbers in the file")
      .field("labels", &CsvParams::labels,
             "columns of class names by component; labels are int32, from 0, in the order of the sorted "
             "names of data.train; {label: {column: species, classes: [...]}} gives another order; a list "
             "of columns is a set of labels, any number of which may hold: a float32 vector, 0 or 1 for "
             "each (or a number "
             "between), named after the columns")
      .field("delimiter", &CsvParams::delimiter, CsvForm::kDelimiterDoc)
      .field("header", &CsvParams::header,
             "true: the first row has the names of the columns; false: their names are 0, 1, 2, ...")
      .field("missing", &CsvParams::missing,
             "what replaces missing values (empty, NA, NaN, null, ? and those of `na_values`): a number, or "
             "mean, median or "
             "most_common of data.train, also by column: {Age: median, Embarked: S}; default: such rows are "
             "bad samples, but in columns of `auto` (docs)")
      .field("na_values", &CsvParams::na_values,
             "more words or numbers that mean a missing value: unknown, [-, unknown], or by column: {age: "
             "-999}. "
             "In columns of `auto`, a word that is the only text among numbers or dates does so by itself")
      .field("decimal", &CsvParams::decimal, kDecimalDoc)
      .field("dates", &CsvParams::dates,
             "which number of dates such as 05/06/2024 in columns of `auto` is the day; auto: what the other "
             "dates of the column tell; a column that does not tell is not read")
      .field("encoding", &CsvParams::encoding, "of the text: utf-8, latin1 (ISO 8859-1), or utf-16")
      .field("format", &CsvParams::format,
             "jsonl: an object per line, whose keys are columns, {\"x\": 1, \"tags\": [2, 3]} has x, tags.0 "
             "and tags.1; "
             "missing keys and null are missing values, true and false are 1 and 0; auto: jsonl for files "
             "called "
             ".jsonl or .ndjson, else csv")
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
  if (autos > 1)
    throw ConfigError("CSV: 'columns' has several components that are 'auto'; one has all columns");
  if (autos == 0 && !types.all.empty())
    throw ConfigError(types.position, "CSV: 'types' is for the columns of a component that is 'auto'");
  if (autos == 0 && !scale.is_default())
    throw ConfigError(scale.position,
                      "CSV: 'scale' is for the columns of a component that is 'auto'; for others there is "
                      "the map Standardize");
  if (autos == 0 && !clip.empty())
    throw ConfigError(clip.position, "CSV: 'clip' is for the columns of a component that is 'auto'");
}

}  // namespace tpack
