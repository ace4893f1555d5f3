#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/schema.h"
#include "dataflow/format/table_text.h"
#include "dataflow/source/csv_columns.h"

namespace tpack {

/// Files that a table is read from: one, several, or those that match a pattern such as data/part-*.csv.
struct TablePaths {
  std::vector<Ref<Path>> all;
  bool is_list = false;
};

template <>
struct Codec<TablePaths> {
  static FieldType type();
  static std::optional<TablePaths> parse(const ConfigNode& node, Reader& reader);
  static ConfigNode dump(const TablePaths& paths);
};

enum class TableFormat : uint8_t { kByName, kCsv, kJsonl };

template <>
struct EnumNames<TableFormat> {
  static constexpr std::array<std::pair<const char*, TableFormat>, 3> kNames = {
      {{"auto", TableFormat::kByName}, {"csv", TableFormat::kCsv}, {"jsonl", TableFormat::kJsonl}}};
};

/// How the rows of a table are written in its files.
struct CsvForm {
  static constexpr const char* kDelimiterDoc =
      "the character between fields; tab; whitespace: any number of spaces and tabs; auto: a tab in files "
      "called .tsv, else a comma";

  std::string delimiter = "auto";
  bool header = true;
  TextEncoding encoding = TextEncoding::kUtf8;
  TableFormat format = TableFormat::kByName;

  /// Errors: ConfigError for what is no delimiter; it begins with the source.
  void check(const std::string& source) const;
  /// Of a file by its name.
  char delimiter_of(const std::string& path) const;
  bool is_jsonl(const std::string& path) const;
};

/// A row of a table while it is read.
struct CsvRow {
  const std::vector<std::string_view>& fields;  // by column
  size_t file;
  int64_t line;
  std::string why = {};  // why it is bad, and may have fewer fields; empty if it is not
};

/// The rows of a table in their order, and where each is. A value.
class CsvRows {
 public:
  CsvRows() = default;
  /// Finds the files. Errors: ConfigError at the path if there is none, or one that was named already; it
  /// begins with the source.
  CsvRows(const TablePaths& paths, CsvForm form, const std::string& source = "CSV");

  const std::vector<std::string>& files() const { return files_; }
  bool are_jsonl() const { return are_jsonl_; }
  /// For messages: "a.csv", or "a.csv and 2 more".
  std::string name() const;
  /// Calls `on_header`, and then `on_row` for each row. Columns have the order of the first file, or that in
  /// which JSON lines first name them. Errors: DataError with path and line.
  void read(const std::function<void(const CsvHeader&)>& on_header,
            const std::function<void(const CsvRow&)>& on_row) const;

 private:
  using OnRow = std::function<void(const CsvRow&)>;

  std::vector<std::string> names_of(const std::vector<std::string_view>& fields) const;
  void read_csv(size_t file, std::optional<CsvHeader>& header,
                const std::function<void(const CsvHeader&)>& on_header, const OnRow& on_row) const;
  void read_jsonl(size_t file, const CsvHeader& header, const OnRow& on_row) const;
  CsvHeader header_of_jsonl() const;

  std::vector<std::string> files_;
  CsvForm form_;
  bool are_jsonl_ = false;
  std::vector<std::string> jsonl_names_;  // of the columns
};

}  // namespace tpack
