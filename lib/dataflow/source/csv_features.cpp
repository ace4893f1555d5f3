#include "dataflow/source/csv_features.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cmath>
#include <limits>
#include <numbers>

#include "core/error.h"
#include "core/text.h"
#include "dataflow/format/csv.h"

namespace tpack {
namespace {

constexpr float kMissing = std::numeric_limits<float>::quiet_NaN();
constexpr int64_t kSecondsOfDay = 86400;

/// `count` digits at the beginning of the text, which they leave; nothing if there are others.
std::optional<int> digits(std::string_view& text, size_t count) {
  int value = 0;
  const char* const end = text.data() + std::min(count, text.size());
  const auto [stop, failure] = std::from_chars(text.data(), end, value);
  if (failure != std::errc{} || stop != text.data() + count) return std::nullopt;
  text.remove_prefix(count);
  return value;
}

bool take(std::string_view& text, char c) {
  if (!text.starts_with(c)) return false;
  text.remove_prefix(1);
  return true;
}

void put_cycle(float*& out, double phase) {
  *out++ = static_cast<float>(std::sin(2 * std::numbers::pi * phase));
  *out++ = static_cast<float>(std::cos(2 * std::numbers::pi * phase));
}

/// Values of a date besides its days.
constexpr size_t kCycles = 4;      // month, day of the week
constexpr size_t kTimeCycles = 2;  // of the day

size_t slots_of(ColumnType type) { return type == ColumnType::kDate ? 2 : 1; }

ColumnType type_from(const std::string& name) {
  for (const auto& [known, type] : EnumNames<ColumnType>::kNames)
    if (name == known) return type;
  throw CheckpointError("", "unknown type of a column '" + name + "'");
}

}  // namespace

FieldType Codec<ColumnTypes>::type() {
  return FieldType::map_of(Codec<ColumnType>::type(), "types by column");
}

std::optional<ColumnTypes> Codec<ColumnTypes>::parse(const ConfigNode& node, Reader& reader) {
  if (!node.is_map()) {
    reader.wrong_type(node, "types by column, such as {Pclass: category}");
    return std::nullopt;
  }
  ColumnTypes types{.position = node.position()};
  const size_t before = reader.errors().count();
  for (const auto& [column, value, position] : node.entries()) {
    const auto type = Codec<ColumnType>::parse(value, reader);
    if (type) types.all.emplace_back(column, *type);
  }
  return reader.errors().count() == before ? std::optional(std::move(types)) : std::nullopt;
}

ConfigNode Codec<ColumnTypes>::dump(const ColumnTypes& types) {
  std::vector<ConfigNode::Entry> entries;
  for (const auto& [column, type] : types.all) entries.push_back({column, Codec<ColumnType>::dump(type)});
  return ConfigNode::map(std::move(entries));
}

std::optional<int64_t> parse_date(std::string_view field) {
  std::string_view text = trim(field);
  const auto year = digits(text, 4);
  if (!year || !take(text, '-')) return std::nullopt;
  const auto month = digits(text, 2);
  if (!month || !take(text, '-')) return std::nullopt;
  const auto day = digits(text, 2);
  if (!day) return std::nullopt;
  const std::chrono::year_month_day date{std::chrono::year(*year),
                                         std::chrono::month(static_cast<unsigned>(*month)),
                                         std::chrono::day(static_cast<unsigned>(*day))};
  if (!date.ok()) return std::nullopt;
  int64_t seconds = std::chrono::sys_days(date).time_since_epoch().count() * kSecondsOfDay;
  if (text.empty()) return seconds;
  if (!take(text, ' ') && !take(text, 'T')) return std::nullopt;
  const auto hour = digits(text, 2);
  if (!hour || *hour > 23 || !take(text, ':')) return std::nullopt;
  const auto minute = digits(text, 2);
  if (!minute || *minute > 59) return std::nullopt;
  seconds += *hour * 3600 + *minute * 60;
  if (take(text, ':')) {
    const auto second = digits(text, 2);
    if (!second || *second > 60) return std::nullopt;
    seconds += *second;
    if (take(text, '.')) text.remove_prefix(std::min(text.find_first_not_of("0123456789"), text.size()));
  }
  take(text, 'Z');
  return text.empty() ? std::optional(seconds) : std::nullopt;
}

void ColumnGuess::see(std::string_view field, DecimalSign decimal) {
  ++rows_;
  const std::string_view text = trim(field);
  if (is_missing_in_csv(text)) {
    ++missing_;
    return;
  }
  const auto number = csv_number(text, decimal);
  if (number) {
    counts_up_ = counts_up_ && *number == std::trunc(*number) && (numbers_ == 0 || *number == last_ + 1);
    last_ = *number;
    ++numbers_;
  } else {
    counts_up_ = false;
    if (parse_date(text)) ++dates_;
  }
  if (number && values_.size() > kFewValues) return;  // which of them, matters for texts only
  if (values_.contains(text)) return;
  if (values_.size() < kMaxValues)
    values_.emplace(text);
  else
    has_more_values_ = true;
}

ColumnType ColumnGuess::type() const {
  if (values_.size() < 2 || is_row_number()) return ColumnType::kIgnore;
  if (dates_ == present()) return ColumnType::kDate;
  // A few fields that are no numbers are mistakes, if there are many different numbers.
  const bool are_mostly_numbers = numbers_ * 100 >= present() * 95 && values_.size() > kFewValues;
  if (numbers_ == present() || are_mostly_numbers) return ColumnType::kNumber;
  return has_more_values_ || values_.size() * 2 > present() + 2 ? ColumnType::kIgnore : ColumnType::kCategory;
}

std::string ColumnGuess::why() const {
  if (present() == 0) return "empty";
  if (values_.size() < 2) return "one value only";
  return is_row_number() ? "row numbers" : "most texts occur once";
}

size_t CsvFeatures::Encoder::width() const {
  if (column.type == ColumnType::kCategory) return categories.size() + 1;
  const size_t indicator = has_missing ? 1 : 0;
  if (column.type == ColumnType::kNumber) return 1 + indicator;
  return 1 + kCycles + (has_time ? kTimeCycles : 0) + indicator;
}

void CsvFeatures::Encoder::index_categories() {
  place.clear();
  for (const std::string& text : texts) {
    const auto found = std::lower_bound(categories.begin(), categories.end(), text);
    const bool is_known = found != categories.end() && *found == text;
    place.push_back(static_cast<int32_t>(is_known ? found - categories.begin() : std::ssize(categories)));
  }
}

CsvFeatures::CsvFeatures(std::vector<Column> columns, std::vector<std::string> remarks)
    : remarks_(std::move(remarks)) {
  for (Column& column : columns) {
    names_.push_back(column.name);
    encoders_.push_back({std::move(column)});
  }
}

size_t CsvFeatures::slots() const {
  size_t all = 0;
  for (const Encoder& encoder : encoders_) all += slots_of(encoder.column.type);
  return all;
}

float CsvFeatures::code_of(Encoder& encoder, std::string_view text) const {
  const auto known = encoder.codes.find(text);
  if (known != encoder.codes.end()) return known->second;
  const auto code = static_cast<float>(encoder.texts.size());
  encoder.codes.emplace(text, code);
  encoder.texts.emplace_back(text);
  return code;
}

void CsvFeatures::add(const std::vector<std::string_view>& fields, CsvNumberReader& reader,
                      std::string& why) {
  for (Encoder& encoder : encoders_) {
    const Column& column = encoder.column;
    std::string_view field = why.empty() ? trim(fields[column.index]) : std::string_view();
    bool is_missing = is_missing_in_csv(field);
    if (is_missing && column.missing != nullptr && column.missing->by == MissingRule::By::kText) {
      field = column.missing->text;
      is_missing = false;
    }
    if (column.type == ColumnType::kCategory) {
      values_.push_back(is_missing ? kMissing : code_of(encoder, field));
    } else if (column.type == ColumnType::kNumber) {
      values_.push_back(is_missing ? kMissing : reader.read(field, column.name, why));
    } else {
      const auto date = is_missing ? std::nullopt : parse_date(field);
      if (!date && !is_missing && why.empty())
        why = "column '" + column.name + "' has '" + std::string(field.substr(0, 40)) +
              "', which is no date such as 2020-04-03 or 2020-04-03 10:00";
      const int64_t seconds = date.value_or(0);
      const int64_t of_day = (seconds % kSecondsOfDay + kSecondsOfDay) % kSecondsOfDay;
      const int64_t days = (seconds - of_day) / kSecondsOfDay;
      values_.push_back(date ? static_cast<float>(days) : kMissing);
      values_.push_back(static_cast<float>(of_day));
    }
  }
}

void CsvFeatures::fit_numbers(Encoder& encoder, std::vector<float> present, size_t rows) {
  const std::string& name = encoder.column.name;
  if (present.empty()) throw DataError("CSV: column '" + name + "' has no value in the training data");
  double sum = 0;
  for (const float x : present) sum += static_cast<double>(x);
  encoder.mean = sum / static_cast<double>(present.size());
  double squares = 0;
  for (const float x : present)
    squares += (static_cast<double>(x) - encoder.mean) * (static_cast<double>(x) - encoder.mean);
  const double deviation = std::sqrt(squares / static_cast<double>(present.size()));
  encoder.factor = deviation > 0 ? 1 / deviation : 1;
  const MissingRule* rule = encoder.column.missing;
  const bool is_number = rule != nullptr && rule->by == MissingRule::By::kNumber;
  // A value that the config gives is one like others.
  encoder.has_missing = present.size() < rows && !is_number;
  encoder.fill = is_number
                     ? rule->number
                     : fill_of(rule == nullptr ? MissingRule::By::kMedian : rule->by, std::move(present));
}

void CsvFeatures::fit_categories(Encoder& encoder, const std::vector<float>& codes) {
  std::vector<int64_t> counts(encoder.texts.size());
  for (const float code : codes) ++counts[static_cast<size_t>(code)];
  std::vector<size_t> order;
  for (size_t code = 0; code < counts.size(); ++code)
    if (counts[code] > 0) order.push_back(code);
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return counts[a] != counts[b] ? counts[a] > counts[b] : encoder.texts[a] < encoder.texts[b];
  });
  if (order.size() > kMaxCategories) {
    of_fit_.push_back("of the " + std::to_string(order.size()) + " categories of '" + encoder.column.name +
                      "' the " + std::to_string(kMaxCategories) +
                      " most common ones have a place of their own");
    order.resize(kMaxCategories);
  }
  encoder.categories.clear();
  for (const size_t code : order) encoder.categories.push_back(encoder.texts[code]);
  std::sort(encoder.categories.begin(), encoder.categories.end());
  encoder.index_categories();
}

void CsvFeatures::fit(std::span<const int64_t> rows) {
  of_fit_.clear();
  const size_t step = slots();
  size_t slot = 0;
  for (Encoder& encoder : encoders_) {
    std::vector<float> present;
    encoder.has_time = false;
    for (const int64_t row : rows) {
      const float* const at = values_.data() + static_cast<size_t>(row) * step + slot;
      if (!std::isnan(*at)) present.push_back(*at);
      if (encoder.column.type == ColumnType::kDate && at[1] > 0) encoder.has_time = true;
    }
    if (encoder.column.type == ColumnType::kCategory)
      fit_categories(encoder, present);
    else
      fit_numbers(encoder, std::move(present), rows.size());
    slot += slots_of(encoder.column.type);
  }
}

State CsvFeatures::learned() const {
  State all;
  all.put("columns", encoders_.size());
  for (size_t i = 0; i < encoders_.size(); ++i) {
    const Encoder& encoder = encoders_[i];
    State one;
    one.put("name", encoder.column.name);
    one.put("type",
            std::string(EnumNames<ColumnType>::kNames[static_cast<size_t>(encoder.column.type)].first));
    one.put("mean", encoder.mean);
    one.put("factor", encoder.factor);
    one.put("fill", encoder.fill);
    one.put("has_missing", static_cast<int64_t>(encoder.has_missing));
    one.put("has_time", static_cast<int64_t>(encoder.has_time));
    one.put("categories", encoder.categories.size());
    for (size_t k = 0; k < encoder.categories.size(); ++k)
      one.put("category_" + std::to_string(k), encoder.categories[k]);
    all.put(std::to_string(i), one);
  }
  return all;
}

std::vector<CsvFeatures::Column> CsvFeatures::columns_of(const State& learned) {
  std::vector<Column> columns;
  const auto count = static_cast<size_t>(learned.get<int64_t>("columns"));
  for (size_t i = 0; i < count; ++i) {
    const State one = learned.part(std::to_string(i));
    columns.push_back({0, one.get<std::string>("name"), type_from(one.get<std::string>("type"))});
  }
  return columns;
}

void CsvFeatures::use(const State& learned) {
  for (size_t i = 0; i < encoders_.size(); ++i) {
    Encoder& encoder = encoders_[i];
    const State one = learned.part(std::to_string(i));
    encoder.mean = one.get<double>("mean");
    encoder.factor = one.get<double>("factor");
    encoder.fill = one.get<double>("fill");
    encoder.has_missing = one.get<int64_t>("has_missing") != 0;
    encoder.has_time = one.get<int64_t>("has_time") != 0;
    encoder.categories.clear();
    const auto count = one.get<int64_t>("categories");
    for (int64_t k = 0; k < count; ++k)
      encoder.categories.push_back(one.get<std::string>("category_" + std::to_string(k)));
    encoder.index_categories();
  }
}

std::vector<std::string> CsvFeatures::remarks() const {
  std::vector<std::string> all = remarks_;
  all.insert(all.end(), of_fit_.begin(), of_fit_.end());
  return all;
}

TensorSpec CsvFeatures::spec() const {
  size_t width = 0;
  for (const Encoder& encoder : encoders_) width += encoder.width();
  return {DType::kFloat32, {static_cast<int64_t>(width)}};
}

void CsvFeatures::get(size_t row, float* out) const {
  const float* at = values_.data() + row * slots();
  for (const Encoder& encoder : encoders_) {
    const bool is_missing = std::isnan(*at);
    if (encoder.column.type == ColumnType::kCategory) {
      const size_t width = encoder.width();
      std::fill_n(out, width, 0.0F);
      out[is_missing ? width - 1 : static_cast<size_t>(encoder.place[static_cast<size_t>(*at)])] = 1;
      out += width;
    } else {
      const double value = is_missing ? encoder.fill : static_cast<double>(*at);
      *out++ = static_cast<float>((value - encoder.mean) * encoder.factor);
      if (encoder.column.type == ColumnType::kDate) {
        const std::chrono::sys_days day{std::chrono::days(static_cast<int64_t>(value))};
        const std::chrono::year_month_day date(day);
        put_cycle(out, (static_cast<unsigned>(date.month()) - 1) / 12.0);
        put_cycle(out, std::chrono::weekday(day).c_encoding() / 7.0);
        if (encoder.has_time) put_cycle(out, static_cast<double>(at[1]) / static_cast<double>(kSecondsOfDay));
      }
      if (encoder.has_missing) *out++ = is_missing ? 1.0F : 0.0F;
    }
    at += slots_of(encoder.column.type);
  }
}

FeatureColumns followed_features(const CsvHeader& header, const State& learned, const Position& where) {
  FeatureColumns found{CsvFeatures::columns_of(learned)};
  std::vector<std::string> names;
  for (const CsvFeatures::Column& column : found.columns) names.push_back(column.name);
  header.require(names, where, "data.train");
  for (CsvFeatures::Column& column : found.columns) {
    const auto at = std::find(header.names().begin(), header.names().end(), column.name);
    column.index = static_cast<size_t>(at - header.names().begin());
  }
  return found;
}

FeatureColumns guessed_features(const CsvHeader& header, const std::vector<ColumnGuess>& guesses,
                                const ColumnTypes& types, const Position& where,
                                const std::function<bool(const std::string&)>& is_taken) {
  for (const auto& [column, type] : types.all)
    if (!header.has(column))
      throw ConfigError(types.position, "CSV: 'types': unknown column '" + column + "'" +
                                            did_you_mean(column, header.names()) + "; " + header.path() +
                                            " has the columns " + join_first(header.names()));
  FeatureColumns found;
  std::map<ColumnType, std::vector<std::string>> of_type;
  for (size_t i = 0; i < header.size(); ++i) {
    const std::string& name = header[i];
    if (is_taken(name)) continue;
    const auto given =
        std::find_if(types.all.begin(), types.all.end(), [&](const auto& one) { return one.first == name; });
    const bool is_given = given != types.all.end();
    const ColumnType type = is_given ? given->second : guesses[i].type();
    const bool needs_why = type == ColumnType::kIgnore && !is_given;
    of_type[type].push_back(name + (needs_why ? " (" + guesses[i].why() + ")" : ""));
    if (type != ColumnType::kIgnore) found.columns.push_back({i, name, type});
  }
  if (found.columns.empty())
    throw ConfigError(where,
                      "CSV: " + header.path() + " has no column of use for 'auto'; `types` can name some");
  for (const auto& [type, names] : of_type) {
    const std::string what = EnumNames<ColumnType>::kNames[static_cast<size_t>(type)].first;
    found.remarks.push_back((type == ColumnType::kIgnore ? "not read" : what) + ": " + join(names, ", "));
  }
  return found;
}

}  // namespace tpack
