#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "table/csv_columns.h"

namespace tpack {

/// A column of class names while its file is read. Labels are numbered as their names appear; `number` sorts
/// them.
class CsvLabels {
 public:
  enum class From : uint8_t { kFile, kConfig, kTrain };

  /// `classes`: from the config or data.train; empty for the classes of the file.
  CsvLabels(size_t column, std::vector<std::string> classes, From from);

  size_t column() const { return column_; }
  const std::vector<std::string>& classes() const { return classes_; }
  /// The label of each row; -1: bad.
  const std::vector<int32_t>& values() const { return values_; }

  /// Why the field does not name a class; empty if it does.
  std::string complaint_of(std::string_view field, const std::string& column);
  /// The same column without rows, for a part of the table; for `append`.
  CsvLabels part() const {
    return {column_, from_ == From::kFile ? std::vector<std::string>() : classes_, from_};
  }
  /// Appends the rows of a part.
  void append(const CsvLabels& part);
  /// Adds a row; a bad row adds no class.
  void add(std::string_view field) { values_.push_back(number_of(std::string(field))); }
  void add_bad() { values_.push_back(-1); }
  /// After the last row.
  void number();
  /// Compares the classes of data.train with those of the rows. Returns the classes that the rows do not
  /// have, for a warning; empty if there are none. Errors: ConfigError at the reference if they have none of
  /// them; it begins with the source.
  std::string compare_with_train(const std::string& path, const ColumnRef& ref,
                                 const std::string& source = "CSV") const;

 private:
  static constexpr size_t kMaxUnknown = 10;

  int32_t number_of(const std::string& name);
  std::map<std::string, int32_t>::const_iterator find(const std::string& name) const;

  size_t column_;
  From from_;
  std::vector<std::string> classes_;            // in the order of the labels
  std::map<std::string, int32_t> seen_;         // label by name
  std::map<std::string, std::string> spelled_;  // if all given classes are numbers: by csv_number_key
  std::vector<std::string> names_;              // by label
  std::vector<int32_t> values_;
  std::vector<bool> present_;      // the given classes that occur in rows
  std::set<std::string> unknown_;  // the first names that are not a class
};

}  // namespace tpack
