#include "table/csv_features.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <numbers>
#include <utility>

#include "core/error.h"
#include "core/text.h"
#include "table/csv.h"

namespace tpack {
namespace {

constexpr float kMissing = std::numeric_limits<float>::quiet_NaN();

void put_cycle(float*& out, double phase) {
  *out++ = static_cast<float>(std::sin(2 * std::numbers::pi * phase));
  *out++ = static_cast<float>(std::cos(2 * std::numbers::pi * phase));
}

/// Values of a date besides its days.
constexpr size_t kCycles = 4;      // month, day of the week
constexpr size_t kTimeCycles = 2;  // of the day

/// Whether days since 1970 are a date that the calendar has; not for NaN.
bool are_days(double days) {
  constexpr double kMost = 10'000'000;
  return std::abs(days) <= kMost;
}

size_t slots_of(ColumnType type) { return type == ColumnType::kDate ? 2 : 1; }

size_t slots_of(const std::vector<CsvFeatures::Column>& columns) {
  size_t all = 0;
  for (const CsvFeatures::Column& column : columns) all += slots_of(column.type);
  return all;
}

bool is_number(const std::string& text) { return csv_number(text).has_value(); }

/// If all texts are numbers, the shortest spelling of each gets the counts of its other spellings.
void join_spellings(const std::vector<std::string>& texts, std::vector<int64_t>& counts) {
  std::map<std::string, size_t> shortest_of;  // by csv_number_key
  for (size_t code = 0; code < texts.size(); ++code) {
    if (counts[code] == 0) continue;
    const auto key = csv_number_key(texts[code]);
    if (!key) return;
    const auto [at, is_new] = shortest_of.emplace(*key, code);
    const auto rank = [&](size_t c) { return std::pair(texts[c].size(), texts[c]); };
    if (!is_new && rank(code) < rank(at->second)) at->second = code;
  }
  for (size_t code = 0; code < texts.size(); ++code) {
    if (counts[code] == 0) continue;
    const size_t first = shortest_of.at(*csv_number_key(texts[code]));
    if (first != code) counts[first] += std::exchange(counts[code], 0);
  }
}

ColumnType type_from(const std::string& name) {
  for (const auto& [known, type] : EnumNames<ColumnType>::kNames)
    if (name == known) return type;
  throw CheckpointError("", "unknown type of a column '" + name + "'");
}

}  // namespace

size_t CsvFeatures::Encoder::width() const {
  if (column.type == ColumnType::kCategory) return categories.size() + 1;
  const size_t indicator = has_missing ? 1 : 0;
  if (column.type != ColumnType::kDate) return 1 + indicator;
  return 1 + kCycles + (has_time ? kTimeCycles : 0) + indicator;
}

void CsvFeatures::Encoder::index_categories() {
  const bool are_numbers = std::all_of(categories.begin(), categories.end(), is_number);
  const auto key_of = [&](const std::string& text) {
    return are_numbers ? csv_number_key(text).value_or(text) : text;
  };
  std::map<std::string, int32_t> places;
  for (size_t i = 0; i < categories.size(); ++i)
    places.emplace(key_of(categories[i]), static_cast<int32_t>(i));
  place.clear();
  for (const std::string& text : texts) {
    const auto found = places.find(key_of(text));
    place.push_back(found != places.end() ? found->second : static_cast<int32_t>(categories.size()));
  }
}

CsvFeatures::CsvFeatures(std::vector<Column> columns, std::vector<std::string> remarks)
    : remarks_(std::move(remarks)), rows_(slots_of(columns)) {
  for (Column& column : columns) {
    names_.push_back(column.name);
    encoders_.push_back({std::move(column)});
  }
}

std::unique_ptr<CsvValues> CsvFeatures::part(size_t rows) const {
  std::vector<Column> columns;
  for (const Encoder& encoder : encoders_) columns.push_back(encoder.column);
  auto part = std::make_unique<CsvFeatures>(std::move(columns));
  part->open_.reserve(rows * rows_.columns());
  return part;
}

/// Converts codes to those of this table, in the order in which its rows first have their texts.
void CsvFeatures::append(CsvValues& part) {
  auto& other = static_cast<CsvFeatures&>(part);
  const size_t step = rows_.columns();
  size_t slot = 0;
  for (size_t i = 0; i < encoders_.size(); ++i) {
    std::vector<float> codes;
    bool is_same = true;
    for (const std::string& text : other.encoders_[i].texts) {
      codes.push_back(code_of(encoders_[i], text));
      is_same = is_same && codes.back() == static_cast<float>(codes.size() - 1);
    }
    for (size_t at = slot; !is_same && at < other.open_.size(); at += step)
      if (!std::isnan(other.open_[at])) other.open_[at] = codes[static_cast<size_t>(other.open_[at])];
    slot += slots_of(encoders_[i].column.type);
  }
  rows_.append(std::move(other.open_));
}

float CsvFeatures::code_of(Encoder& encoder, std::string_view text) {
  const auto known = encoder.codes.find(text);
  if (known != encoder.codes.end()) return known->second;
  const auto code = static_cast<float>(encoder.texts.size());
  encoder.codes.emplace(text, code);
  encoder.texts.emplace_back(text);
  return code;
}

bool CsvFeatures::is_missing(const Column& column, std::string_view field) {
  return is_missing_in_csv(field) || (!column.missing_word.empty() && trim(field) == column.missing_word);
}

/// NaN for a missing one.
float CsvFeatures::number_of(const Column& column, std::string_view field, CsvNumberReader& reader) {
  float number = 0;
  if (column.form.is_percent() || !reader.read_common(field, number)) {
    if (is_missing(column, field)) return kMissing;
    number = reader.read(field, column.name, column.form);
  }
  const auto prepared = column.scaling.prepared(static_cast<double>(number));
  if (!prepared)
    throw BadField{"column '" + column.name + "' has " + shortest(number) +
                   ", but log1p needs numbers above -1"};
  return static_cast<float>(*prepared);
}

float CsvFeatures::yes_or_no(const Column& column, std::string_view field) {
  const auto flag = parse_yes_no(field);
  if (!flag)
    throw BadField{"column '" + column.name + "' has '" + std::string(field.substr(0, 40)) +
                   "', which is not a bool; use true/false, yes/no, t/f, y/n or 1/0"};
  return flag->is_yes ? 1.0F : 0.0F;
}

void CsvFeatures::add_date(const Column& column, std::string_view field) {
  const auto seconds = parse_date(field, column.dates);
  if (!seconds)
    throw BadField{"column '" + column.name + "' has '" + std::string(field.substr(0, 40)) +
                   "', which is not a date such as 2020-04-03 or 2020-04-03 10:00" +
                   (column.dates == DateOrder::kDayFirst ? ", or 31/12/2020 as in other rows of the column"
                    : column.dates == DateOrder::kMonthFirst
                        ? ", or 12/31/2020 as in other rows of the column"
                        : "")};
  const int64_t of_day = (*seconds % kSecondsOfDay + kSecondsOfDay) % kSecondsOfDay;
  const int64_t days = (*seconds - of_day) / kSecondsOfDay;
  open_.push_back(static_cast<float>(days));
  open_.push_back(static_cast<float>(of_day));
}

void CsvFeatures::add_missing(const Column& column) {
  open_.push_back(kMissing);
  if (column.type == ColumnType::kDate) open_.push_back(0);
}

void CsvFeatures::add(const std::vector<std::string_view>& fields, CsvNumberReader& reader) {
  for (Encoder& encoder : encoders_) {
    const Column& column = encoder.column;
    const bool has_text = column.missing != nullptr && column.missing->by == MissingRule::By::kText;
    if (column.type == ColumnType::kNumber) {
      float number = number_of(column, fields[column.index], reader);
      if (std::isnan(number) && has_text) number = number_of(column, column.missing->text, reader);
      open_.push_back(number);
      continue;
    }
    std::string_view field = trim(fields[column.index]);
    const bool has_none = is_missing(column, field);
    if (has_none && has_text) field = column.missing->text;
    if (has_none && !has_text)
      add_missing(column);
    else if (column.type == ColumnType::kCategory)
      open_.push_back(code_of(encoder, field));
    else if (column.type == ColumnType::kBool)
      open_.push_back(yes_or_no(column, field));
    else
      add_date(column, field);
  }
}

void CsvFeatures::fit_numbers(Encoder& encoder, std::vector<float> present, size_t rows) {
  const std::string& name = encoder.column.name;
  if (present.empty()) throw DataError("CSV: column '" + name + "' has no value in the training data");
  NumberScaling& scaling = encoder.column.scaling;
  scaling.fit(present);
  const MissingRule* rule = encoder.column.missing;
  const bool is_number = rule != nullptr && rule->by == MissingRule::By::kNumber;
  // A value from the config is not marked as missing.
  encoder.has_missing = present.size() < rows && !is_number;
  if (is_number) {
    const auto fill = scaling.prepared(rule->number);
    if (!fill)
      throw ConfigError(rule->position,
                        "CSV: 'missing': log1p of column '" + name + "' needs a number above -1");
    if (encoder.column.type == ColumnType::kDate && !are_days(*fill))
      throw ConfigError(rule->position, "CSV: 'missing': column '" + name + "' has dates, but " +
                                            shortest(*fill) + " is not a number of days since 1970");
    encoder.fill = *fill;
    return;
  }
  using By = MissingRule::By;
  const By by_itself = encoder.column.type == ColumnType::kBool ? By::kMostCommon : By::kMedian;
  encoder.fill = fill_of(rule == nullptr ? by_itself : rule->by, std::move(present));
}

void CsvFeatures::fit_categories(Encoder& encoder, const std::vector<float>& codes) {
  std::vector<int64_t> counts(encoder.texts.size());
  for (const float code : codes) ++counts[static_cast<size_t>(code)];
  join_spellings(encoder.texts, counts);
  std::vector<size_t> order;
  for (size_t code = 0; code < counts.size(); ++code)
    if (counts[code] > 0) order.push_back(code);
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return counts[a] != counts[b] ? counts[a] > counts[b] : encoder.texts[a] < encoder.texts[b];
  });
  if (order.size() > kMaxCategories) {
    of_fit_.push_back("only the " + std::to_string(kMaxCategories) + " most common of the " +
                      std::to_string(order.size()) + " categories of '" + encoder.column.name +
                      "' are encoded separately");
    order.resize(kMaxCategories);
  }
  encoder.categories.clear();
  for (const size_t code : order) encoder.categories.push_back(encoder.texts[code]);
  std::sort(encoder.categories.begin(), encoder.categories.end());
  encoder.index_categories();
}

void CsvFeatures::fit(std::span<const int64_t> rows) {
  of_fit_.clear();
  constexpr size_t kTogether = 16;
  std::vector<std::vector<float>> some;  // of the slots that start at a multiple of kTogether
  const auto values_of = [&](size_t slot) {
    const size_t first = slot / kTogether * kTogether;
    if (slot == first) some = rows_.columns(first, std::min(kTogether, rows_.columns() - first), rows);
    return std::move(some[slot - first]);
  };
  size_t slot = 0;
  for (Encoder& encoder : encoders_) {
    std::vector<float> present = values_of(slot);
    std::erase_if(present, [](float value) { return std::isnan(value); });
    encoder.has_time = false;
    if (encoder.column.type == ColumnType::kDate) {
      const std::vector<float> seconds = values_of(slot + 1);
      encoder.has_time = std::any_of(seconds.begin(), seconds.end(), [](float value) { return value > 0; });
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
    encoder.column.scaling.put_into(one);
    if (encoder.column.form.is_written) one.put("unit", encoder.column.form.unit);
    if (encoder.column.dates != DateOrder::kAuto)
      one.put("day_first", encoder.column.dates == DateOrder::kDayFirst);
    if (!encoder.column.missing_word.empty()) one.put("missing_word", encoder.column.missing_word);
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
  const int64_t count = learned.count("columns", State::kMostSteps, 1);
  for (int64_t i = 0; i < count; ++i) {
    const State one = learned.part(std::to_string(i));
    Column column{0, one.get<std::string>("name"), type_from(one.get<std::string>("type")), nullptr,
                  NumberScaling::from(one)};
    if (one.has("unit")) column.form = {true, one.get<std::string>("unit")};
    if (one.has("day_first"))
      column.dates = one.get<int64_t>("day_first") != 0 ? DateOrder::kDayFirst : DateOrder::kMonthFirst;
    column.missing_word = one.get<std::string>("missing_word", "");
    columns.push_back(std::move(column));
  }
  return columns;
}

void CsvFeatures::use(const State& learned) {
  for (size_t i = 0; i < encoders_.size(); ++i) {
    Encoder& encoder = encoders_[i];
    const State one = learned.part(std::to_string(i));
    encoder.column.scaling = NumberScaling::from(one);
    encoder.fill = one.get<double>("fill");
    if (encoder.column.type == ColumnType::kDate && !are_days(encoder.fill))
      throw CheckpointError("",
                            "the date for missing ones of column '" + encoder.column.name + "' is damaged");
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

std::vector<int64_t> CsvFeatures::widths() const {
  std::vector<int64_t> widths;
  for (const Encoder& encoder : encoders_) widths.push_back(static_cast<int64_t>(encoder.width()));
  return widths;
}

std::vector<std::string> CsvFeatures::warnings() const {
  std::vector<std::string> all;
  for (const Encoder& encoder : encoders_) {
    constexpr size_t kEnough = 2;  // one new category may be by chance
    const auto unknown = static_cast<int32_t>(encoder.categories.size());
    const bool are_new =
        encoder.texts.size() >= kEnough && std::all_of(encoder.place.begin(), encoder.place.end(),
                                                       [&](int32_t place) { return place == unknown; });
    if (are_new)
      all.push_back("column '" + encoder.column.name + "' has none of the categories of data.train (" +
                    join_first(encoder.categories) + "), but " + join_first(encoder.texts) +
                    "; all of them count as unknown");
  }
  return all;
}

TensorSpec CsvFeatures::spec() const {
  size_t width = 0;
  for (const Encoder& encoder : encoders_) width += encoder.width();
  return {DType::kFloat32, {static_cast<int64_t>(width)}};
}

void CsvFeatures::get(size_t row, float* out) const {
  const float* at = rows_.row(row);
  for (const Encoder& encoder : encoders_) {
    const bool is_missing = std::isnan(*at);
    if (encoder.column.type == ColumnType::kCategory) {
      const size_t width = encoder.width();
      std::fill_n(out, width, 0.0F);
      out[is_missing ? width - 1 : static_cast<size_t>(encoder.place[static_cast<size_t>(*at)])] = 1;
      out += width;
    } else {
      const double value = is_missing ? encoder.fill : static_cast<double>(*at);
      *out++ = static_cast<float>(encoder.column.scaling(value));
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

}  // namespace tpack
