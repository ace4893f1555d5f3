#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/schema.h"
#include "fields/file_patterns.h"
#include "table/csv_columns.h"
#include "table/csv_na_values.h"
#include "table/table_text.h"

namespace tpack {

enum class TableFormat : uint8_t { kByName, kCsv, kJsonl };

template <>
struct EnumNames<TableFormat> {
  static constexpr std::array<std::pair<const char*, TableFormat>, 3> kNames = {
      {{"auto", TableFormat::kByName}, {"csv", TableFormat::kCsv}, {"jsonl", TableFormat::kJsonl}}};
};

/// The format of rows in the files of a table.
struct CsvForm {
  static constexpr const char* kDelimiterDoc =
      "the character between fields; tab; whitespace: any number of spaces and tabs; auto: a tab in files "
      "called .tsv, else a comma";

  std::string delimiter = "auto";
  bool header = true;
  TextEncoding encoding = TextEncoding::kUtf8;
  TableFormat format = TableFormat::kByName;
  NaValues na_values = {};  // rows have empty fields instead

  /// Errors: ConfigError for an invalid delimiter; it begins with the source.
  void check(const std::string& source) const;
  /// The format of a file by its name.
  char delimiter_of(const std::string& path) const;
  bool is_jsonl(const std::string& path) const;
};

/// A row of a table while reading.
struct CsvRow {
  const std::vector<std::string_view>& fields;  // by column
  size_t file;
  int64_t line;          // of the file, or of the part that is read
  std::string why = {};  // why the row is bad (it may then have fewer fields); empty if it is not
};

/// The rows of a table in order, with the position of each. A value.
class CsvRows {
 public:
  CsvRows() = default;
  /// Finds the files. Errors: ConfigError at the path for a missing or duplicate file; it begins with the
  /// source.
  CsvRows(const FilePatterns& paths, CsvForm form, const std::string& source = "CSV");

  const std::vector<std::string>& files() const { return files_; }
  bool are_jsonl() const { return are_jsonl_; }
  /// For messages: "a.csv", or "a.csv and 2 more".
  std::string name() const;
  using OnHeader = std::function<void(const CsvHeader&)>;
  using OnRow = std::function<void(const CsvRow&)>;
  /// Calls `on_header`, and then `on_row` for each row. Columns have the order of the first file, or, for
  /// JSON lines, the order of their first line. Errors: DataError with path and line.
  void read(const OnHeader& on_header, const OnRow& on_row) const;

  /// Some rows of one file, one after the other.
  class Part {
   public:
    Part() = default;
    Part(Part&&) = default;
    Part& operator=(Part&&) = default;
    virtual ~Part() = default;
    virtual void add(const CsvRow& row) = 0;
  };
  struct PlaceOfPart {
    size_t file;
    int64_t lines_before;  // to be added to those of its rows
  };
  /// Calls `on_header`; then `begin`, with the approximate number of rows, makes a part, which another thread
  /// may fill while this one fills others, and `take` gets the parts one by one in order. A part that `take`
  /// does not get is not part of the table. Errors: as for `read`.
  void read_parts(const OnHeader& on_header, const std::function<std::unique_ptr<Part>(size_t rows)>& begin,
                  const std::function<void(std::unique_ptr<Part>, PlaceOfPart)>& take) const;

 private:
  struct File;
  class Joiner;

  std::vector<std::string> names_of(const std::vector<std::string_view>& fields) const;
  void take_separator_line(File& file) const;
  void for_each_file(const OnHeader& on_header, const std::function<void(File&)>& read) const;
  CsvHeader header_of_jsonl() const;

  std::vector<std::string> files_;
  CsvForm form_;
  bool are_jsonl_ = false;
  std::vector<std::string> jsonl_names_;  // of the columns
};

}  // namespace tpack
