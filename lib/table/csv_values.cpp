#include "table/csv_values.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <limits>
#include <numeric>

#include "core/error.h"
#include "core/text.h"

namespace tpack {
namespace {

/// In any letter case, with spaces around it.
bool is_word(std::string_view field, std::string_view word) {
  const std::string_view text = trim(field);
  return text.size() == word.size() && std::equal(text.begin(), text.end(), word.begin(), [](char a, char b) {
           return std::tolower(static_cast<unsigned char>(a)) == b;
         });
}

size_t digits_at(std::string_view text) {
  return std::min(text.find_first_not_of("0123456789"), text.size());
}

}  // namespace

bool has_decimal_comma(std::string_view field) {
  std::string_view text = trim(field);
  if (text.starts_with('-')) text.remove_prefix(1);
  text.remove_prefix(digits_at(text));
  if (!text.starts_with(',')) return false;
  text.remove_prefix(1);
  return !text.empty() && digits_at(text) == text.size();
}

float CsvNumberReader::read_number(double value, std::string_view field, const std::string& column) {
  const auto rounded = static_cast<float>(value);
  // Integers such as customer numbers or times, not measurements: rounding loses more than a fraction.
  if (std::abs(value) > kAllIntegers && static_cast<double>(rounded) != value)
    rounded_.emplace(column, std::string(trim(field)));
  return rounded;
}

std::optional<double> CsvNumberReader::value_of(std::string_view field, const NumberForm& form) const {
  if (!form.is_written) return csv_number(field, style_.decimal);
  const auto number = parse_written_number(field, style_.sign());
  if (!number) return std::nullopt;
  const bool has_unit = number->unit == form.unit || number->value == 0;
  return has_unit || (number->unit.empty() && !form.is_percent()) ? std::optional(number->value)
                                                                  : std::nullopt;
}

float CsvNumberReader::read(std::string_view field, const std::string& column, const NumberForm& form) {
  constexpr double kMax = std::numeric_limits<float>::max();
  const std::optional<double> value = value_of(field, form);
  if (value && std::abs(*value) <= kMax) return read_number(*value, field, column);
  if (is_missing_in_csv(field)) return std::numeric_limits<float>::quiet_NaN();
  if (is_word(field, "true")) return 1;
  if (is_word(field, "false")) return 0;
  throw BadField{"column '" + column + "' has '" + std::string(field.substr(0, 40)) + "', " +
                 complaint_of(field, form)};
}

/// The message for a field that is not a number, with the fix.
std::string CsvNumberReader::complaint_of(std::string_view field, const NumberForm& form) {
  const auto written = parse_written_number(field, style_.sign());
  if (written && form.is_written)
    return "but other numbers of the column have " +
           (form.unit.empty() ? "no unit" : "the unit '" + form.unit + "'");
  has_seen_written_ = has_seen_written_ || written;
  const bool has_point = style_.decimal == DecimalSign::kComma && field.find('.') != std::string_view::npos;
  if (has_point && !written)
    return "where the point is not a decimal sign because `decimal` is ','; remove points that separate "
           "thousands from the file";
  std::string text = "which is not a number of float32; ";
  for (const auto& [other, name] : {std::pair(';', "\";\""), std::pair('\t', "tab")})
    if (style_.delimiter == ',' && field.find(other) != std::string_view::npos)
      return text + "if it is several fields, set delimiter: " + name;
  if (written)
    return text + "the column has numbers in several notations; write all as 1234.5 in the file" +
           (written->is_open && style_.delimiter != ',' ? ", or for a decimal comma set decimal: \",\"" : "");
  if (style_.decimal == DecimalSign::kPoint && has_decimal_comma(field))
    return text + "for a decimal comma, set decimal: \",\"";
  return text + "'labels' is for class names, and 'na_values' for words that mean a missing value";
}

double fill_of(MissingRule::By by, std::vector<float> values) {
  if (by == MissingRule::By::kMean) {
    double sum = 0;
    for (const float value : values) sum += static_cast<double>(value);
    return sum / static_cast<double>(values.size());
  }
  if (by == MissingRule::By::kMedian) {
    const auto middle = values.begin() + std::ssize(values) / 2;
    std::nth_element(values.begin(), middle, values.end());
    const auto upper = static_cast<double>(*middle);
    if (values.size() % 2 == 1) return upper;
    return (static_cast<double>(*std::max_element(values.begin(), middle)) + upper) / 2;
  }
  std::sort(values.begin(), values.end());
  float most = values[0];
  std::ptrdiff_t count = 0;
  for (auto at = values.begin(); at != values.end();) {
    const auto end = std::upper_bound(at, values.end(), *at);
    if (end - at > count) {
      count = end - at;
      most = *at;
    }
    at = end;
  }
  return static_cast<double>(most);
}

CsvNumbers::CsvNumbers(std::vector<size_t> columns, std::vector<std::string> names, Form form,
                       const MissingRules& missing, const std::map<std::string, NumberForm>& written)
    : columns_(std::move(columns)),
      names_(std::move(names)),
      form_(form),
      missing_(&missing),
      rows_(columns_.size()),
      fills_(columns_.size()) {
  for (const std::string& name : names_) {
    const auto own = written.find(name);
    written_.push_back(own == written.end() ? NumberForm() : own->second);
    const MissingRule* rule = missing.find(name);
    if (rule != nullptr && rule->by == MissingRule::By::kText)
      throw ConfigError(rule->position, "CSV: 'missing': column '" + name + "' has numbers, but '" +
                                            rule->text +
                                            "' is not a number; write a number, mean, median or most_common");
    rules_.push_back(rule);
    has_rules_ = has_rules_ || rule != nullptr;
  }
}

std::unique_ptr<CsvValues> CsvNumbers::part(size_t rows) const {
  auto part = std::make_unique<CsvNumbers>(columns_, names_, form_, *missing_);
  part->written_ = written_;
  part->open_.reserve(rows * columns_.size());
  return part;
}

void CsvNumbers::add(const std::vector<std::string_view>& fields, CsvNumberReader& reader) {
  for (size_t i = 0; i < columns_.size(); ++i) {
    float value = 0;
    const bool may_be_common = form_ != Form::kLabelSet && !written_[i].is_percent();
    if (!may_be_common || !reader.read_common(fields[columns_[i]], value)) {
      value = reader.read(fields[columns_[i]], names_[i], written_[i]);
      if (std::isnan(value) && rules_[i] == nullptr)
        throw BadField{"column '" + names_[i] + "' has no value; to replace missing values, set 'missing'"};
      if (form_ == Form::kLabelSet && (value < 0 || value > 1))
        throw BadField{"column '" + names_[i] + "' has " + shortest(value) +
                       "; a label of a set must be 0, 1 or between"};
    }
    open_.push_back(value);
  }
}

void CsvNumbers::fit(std::span<const int64_t> rows) {
  for (size_t i = 0; i < columns_.size(); ++i) {
    if (rules_[i] == nullptr) continue;
    if (!rules_[i]->is_fitted()) {
      fills_[i] = static_cast<float>(rules_[i]->number);
      continue;
    }
    std::vector<float> present = std::move(rows_.columns(i, 1, rows)[0]);
    std::erase_if(present, [](float value) { return std::isnan(value); });
    if (present.empty()) throw DataError("CSV: column '" + names_[i] + "' has no value in the training data");
    fills_[i] = static_cast<float>(fill_of(rules_[i]->by, std::move(present)));
  }
}

State CsvNumbers::learned() const {
  State state;
  const bool is_fitted = std::any_of(rules_.begin(), rules_.end(),
                                     [](const auto* rule) { return rule != nullptr && rule->is_fitted(); });
  if (is_fitted) state.put("missing", std::vector<double>(fills_.begin(), fills_.end()));
  for (size_t i = 0; i < written_.size(); ++i)
    if (written_[i].is_written) state.put("unit_" + std::to_string(i), written_[i].unit);
  return state;
}

std::map<std::string, NumberForm> CsvNumbers::written_in(const State& learned,
                                                         const std::vector<std::string>& names) {
  std::map<std::string, NumberForm> written;
  for (size_t i = 0; i < names.size(); ++i) {
    const std::string key = "unit_" + std::to_string(i);
    if (learned.has(key)) written[names[i]] = {true, learned.get<std::string>(key)};
  }
  return written;
}

std::vector<std::string> CsvNumbers::remarks() const {
  std::vector<std::string> texts;
  for (size_t i = 0; i < written_.size(); ++i)
    if (written_[i].is_written) texts.push_back(names_[i] + " (" + written_[i].str() + ")");
  return texts.empty() ? texts
                       : std::vector<std::string>{"numbers in their written form: " + join(texts, ", ")};
}

void CsvNumbers::use(const State& learned) {
  const auto fills = learned.get<std::vector<double>>("missing", std::vector<double>());
  for (size_t i = 0; i < columns_.size(); ++i) {
    if (rules_[i] == nullptr) continue;
    if (rules_[i]->is_fitted() && i >= fills.size())
      throw ConfigError(rules_[i]->position,
                        "CSV: 'missing': data.train sets no replacement for missing values of '" + names_[i] +
                            "'; use the same setting in its flow");
    fills_[i] = static_cast<float>(rules_[i]->is_fitted() ? fills[i] : rules_[i]->number);
  }
}

TensorSpec CsvNumbers::spec() const {
  if (form_ == Form::kNumber) return {DType::kFloat32, {}};
  return {DType::kFloat32, {std::ssize(columns_)}};
}

void CsvNumbers::get(size_t row, float* out) const {
  const float* const values = rows_.row(row);
  std::copy_n(values, columns_.size(), out);
  if (!has_rules_) return;
  for (size_t i = 0; i < columns_.size(); ++i)
    if (std::isnan(values[i])) out[i] = fills_[i];
}

}  // namespace tpack
