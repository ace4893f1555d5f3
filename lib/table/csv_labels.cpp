#include "table/csv_labels.h"

#include <algorithm>

#include "core/error.h"
#include "core/text.h"
#include "table/csv.h"

namespace tpack {
namespace {

/// A key that is equal for all spellings of a name: 1 and 1.0 are one class if all classes are numbers.
std::string class_key(const std::string& name, bool are_numbers) {
  return are_numbers ? csv_number_key(name).value_or(name) : name;
}

bool all_numbers(const std::map<std::string, int32_t>& seen) {
  return std::all_of(seen.begin(), seen.end(),
                     [](const auto& one) { return csv_number(one.first).has_value(); });
}

/// Class names in the order of their labels: numbers by value, other names by letter. If a number has several
/// spellings, the shortest one is used.
std::vector<std::string> sorted_classes(const std::map<std::string, int32_t>& seen) {
  const bool are_numbers = all_numbers(seen);
  std::map<std::string, std::string> by_key;
  for (const auto& [name, first_label] : seen) {
    std::string& known = by_key.emplace(class_key(name, are_numbers), name).first->second;
    if (name.size() < known.size()) known = name;
  }
  std::vector<std::string> names;
  for (const auto& [key, name] : by_key) names.push_back(name);
  std::sort(names.begin(), names.end());
  if (are_numbers) {
    std::stable_sort(names.begin(), names.end(), [](const std::string& a, const std::string& b) {
      return *csv_number(a) < *csv_number(b);
    });
  }
  return names;
}

}  // namespace

CsvLabels::CsvLabels(size_t column, std::vector<std::string> classes, From from)
    : column_(column), from_(from), classes_(std::move(classes)), present_(classes_.size()) {
  for (const std::string& name : classes_) number_of(name);
  if (!all_numbers(seen_)) return;
  for (const std::string& name : classes_) spelled_.emplace(class_key(name, true), name);
}

/// The class with this name, or with another spelling of its number.
std::map<std::string, int32_t>::const_iterator CsvLabels::find(const std::string& name) const {
  const auto known = seen_.find(name);
  if (known != seen_.end() || spelled_.empty()) return known;
  const auto other = spelled_.find(class_key(name, true));
  return other == spelled_.end() ? seen_.end() : seen_.find(other->second);
}

std::string CsvLabels::complaint_of(std::string_view field, const std::string& column) {
  const std::string name(field);
  const auto known = find(name);
  if (known != seen_.end() && from_ != From::kFile) present_[static_cast<size_t>(known->second)] = true;
  if (known != seen_.end()) return "";
  const std::string column_has = "column '" + column + "' has ";
  if (is_missing_in_csv(name))
    return column_has + "no class name" +
           (name.empty()
                ? ""
                : " ('" + name + "' counts as missing; if it is a class, name all of them in 'classes')");
  if (from_ == From::kFile) return "";
  if (unknown_.size() < kMaxUnknown) unknown_.insert("'" + name + "'");
  return column_has + "'" + name +
         (from_ == From::kTrain ? "', which is not a class of data.train"
                                : "', which is not one of its 'classes'") +
         did_you_mean(name, classes_);
}

int32_t CsvLabels::number_of(const std::string& name) {
  if (const auto given = find(name); given != seen_.end()) return given->second;
  const auto [known, is_new] = seen_.emplace(name, static_cast<int32_t>(seen_.size()));
  if (is_new) names_.push_back(name);
  return known->second;
}

void CsvLabels::append(const CsvLabels& part) {
  std::vector<int32_t> label_of;
  for (const std::string& name : part.names_) label_of.push_back(number_of(name));
  for (const int32_t label : part.values_)
    values_.push_back(label < 0 ? label : label_of[static_cast<size_t>(label)]);
  for (size_t i = 0; i < present_.size(); ++i) present_[i] = present_[i] || part.present_[i];
  for (const std::string& name : part.unknown_)
    if (unknown_.size() < kMaxUnknown) unknown_.insert(name);
}

void CsvLabels::number() {
  if (from_ != From::kFile) return;
  classes_ = sorted_classes(seen_);
  const bool are_numbers = all_numbers(seen_);
  std::map<std::string, int32_t> by_key;
  for (size_t i = 0; i < classes_.size(); ++i)
    by_key.emplace(class_key(classes_[i], are_numbers), static_cast<int32_t>(i));
  std::vector<int32_t> label_of(seen_.size());
  for (const auto& [name, label] : seen_)
    label_of[static_cast<size_t>(label)] = by_key.at(class_key(name, are_numbers));
  for (int32_t& value : values_)
    if (value >= 0) value = label_of[static_cast<size_t>(value)];
}

std::string CsvLabels::compare_with_train(const std::string& path, const ColumnRef& ref,
                                          const std::string& source) const {
  if (from_ != From::kTrain) return "";
  const std::string column = "column '" + ref.name + "'";
  const bool has_any = std::find(present_.begin(), present_.end(), true) != present_.end();
  if (!has_any && !unknown_.empty()) {
    throw ConfigError(ref.position,
                      source + ": " + column + " of " + path + " has none of the classes of data.train (" +
                          join_first(classes_) + "), but " +
                          join(std::vector<std::string>(unknown_.begin(), unknown_.end()), ", ") +
                          "; use the same class names in both files");
  }
  std::vector<std::string> absent;
  std::string later;  // the first class whose label would differ without data.train
  for (size_t i = 0; i < classes_.size(); ++i) {
    if (!present_[i])
      absent.push_back("'" + classes_[i] + "'");
    else if (!absent.empty() && later.empty())
      later = " (" + classes_[i] + ": " + std::to_string(i) + ")";
  }
  if (absent.empty()) return "";
  return path + ": " + column + " does not have these classes of data.train: " + join_first(absent) +
         "; the other classes keep their labels" + later;
}

}  // namespace tpack
