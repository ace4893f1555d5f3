#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/schema.h"

namespace tpack {

/// A column as a config names it.
struct ColumnRef {
  std::string name;
  Position position = {};
};

/// A component of numbers: {x: [a, b]} is a vector, {y: a} a number, and {x: "p.*"} a vector, too.
struct NumberColumns {
  std::string component;
  std::vector<ColumnRef> columns;
  bool is_list = false;
  bool is_label_set = false;              // numbers from 0 to 1: a binary label for each column
  std::string separator = {};             // separator of binary labels in one column; empty: none
  std::vector<std::string> classes = {};  // these labels; empty: those in the file
};

/// A component of class names: {label: species}, or {label: {column: species, classes: [...]}}; or a set of
/// labels (multi-label): {tags: [red, round]}, or {tags: {column: tags, separator: " "}}.
struct LabelColumn {
  std::string component;
  ColumnRef column;
  std::vector<std::string> classes;  // empty: those in the file
  std::vector<ColumnRef> set;        // a column for each label; empty: class names
  std::string separator = {};  // separator of several labels in a field; empty: a field is one class name

  bool is_set() const { return !set.empty() || !separator.empty(); }
};

template <>
struct Codec<std::vector<NumberColumns>> {
  static FieldType type();
  static std::optional<std::vector<NumberColumns>> parse(const ConfigNode& node, Reader& reader);
  static ConfigNode dump(const std::vector<NumberColumns>& all);
};

template <>
struct Codec<std::vector<LabelColumn>> {
  static FieldType type();
  static std::optional<std::vector<LabelColumn>> parse(const ConfigNode& node, Reader& reader);
  static ConfigNode dump(const std::vector<LabelColumn>& all);
};

/// `{x: auto}`: all columns of a file that no other component uses, unless a column is named `auto`.
inline constexpr const char* kAutoWord = "auto";
bool is_auto(const NumberColumns& numbers);

/// True if the column has the reference's name, or its name matches the reference as a pattern.
bool may_mean(const ColumnRef& ref, const std::string& column);

/// Errors: ConfigError for a duplicate class.
void check_classes(const LabelColumn& label);

/// The names of the columns in a file.
class CsvHeader {
 public:
  /// `is_row`: the names are a row of the file, which could be data by mistake.
  CsvHeader(std::vector<std::string> names, std::string path, bool is_row);

  size_t size() const { return names_.size(); }
  const std::vector<std::string>& names() const { return names_; }
  const std::string& path() const { return path_; }
  bool has(const std::string& name) const { return places_.contains(name); }
  size_t count(const std::string& name) const { return has(name) ? places_.at(name).count : 0; }
  /// The index of the first column with a name that the file has.
  size_t first(const std::string& name) const { return places_.at(name).first; }
  const std::string& operator[](size_t index) const { return names_[index]; }
  /// The first column with this name; empty if there is none.
  std::string first_that(bool (*is_called_so)(const std::string&)) const {
    const auto found = std::find_if(names_.begin(), names_.end(), is_called_so);
    return found == names_.end() ? "" : *found;
  }
  /// True if the names are a row of a file, and look like its values: numbers that do not ascend, as years
  /// do.
  bool looks_like_data() const;
  /// The fix if the names do not look like names: "; set delimiter: \";\"", "; ... set header: false"; empty
  /// if they do.
  std::string advice() const;

  /// The message for a column of a setting that the file does not have.
  std::string unknown_in(const std::string& setting, const std::string& column) const;

  /// The columns of a reference: the column with this name, or all columns whose names match the pattern.
  /// Errors: ConfigError.
  std::vector<size_t> find(const ColumnRef& ref) const;
  /// Errors: ConfigError with the columns that the file does not have; `who` needs them.
  void require(const std::vector<std::string>& columns, const Position& where, const std::string& who) const;

 private:
  struct Places {
    size_t first = 0;
    size_t count = 0;
  };
  [[noreturn]] void reject(const ColumnRef& ref) const;
  std::string data_advice() const;

  std::vector<std::string> names_;
  std::unordered_map<std::string, Places> places_;
  std::string path_;
  bool is_row_;
};

/// The columns of the training data for a component, `known`, if the config has a pattern for them, or the
/// same names in another order; nothing if the columns of the config apply.
std::optional<std::vector<ColumnRef>> followed_columns(const NumberColumns& wanted, const CsvHeader& header,
                                                       const std::vector<std::string>& known);

}  // namespace tpack
