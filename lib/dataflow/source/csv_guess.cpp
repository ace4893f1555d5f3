#include "dataflow/source/csv_guess.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <chrono>
#include <cmath>

#include "core/text.h"
#include "dataflow/format/csv.h"

namespace tpack {
namespace {

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

std::optional<YesNo> parse_yes_no(std::string_view field) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 5> kWords = {
      {{"true", "false"}, {"yes", "no"}, {"t", "f"}, {"y", "n"}, {"1", "0"}}};
  constexpr size_t kLongest = 5;
  const std::string_view text = trim(field);
  if (text.empty() || text.size() > kLongest) return std::nullopt;
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(), [](unsigned char c) { return std::tolower(c); });
  if (lower == "1.0" || lower == "0.0") lower.resize(1);
  for (size_t i = 0; i < kWords.size(); ++i)
    if (lower == kWords[i].first || lower == kWords[i].second) return YesNo{i, lower == kWords[i].first};
  return std::nullopt;
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
  const auto number = csv_number(field, decimal);
  if (!number && is_missing_in_csv(field)) {
    ++missing_;
    return;
  }
  if (flags_ + 1 == present()) see_flag(field);  // all fields until now
  if (number) return see_number(*number);
  counts_up_ = false;
  if (parse_date(field)) ++dates_;
  add_text(trim(field));
}

void ColumnGuess::see_flag(std::string_view text) {
  const auto flag = parse_yes_no(text);
  if (!flag || flag_words_.value_or(flag->words) != flag->words) return;
  ++flags_;
  flag_words_ = flag->words;
  (flag->is_yes ? has_yes_ : has_no_) = true;
}

void ColumnGuess::see_number(double number) {
  if (numbers_ == 0) first_ = number;
  counts_up_ = counts_up_ && number == std::trunc(number) && (numbers_ == 0 || number == last_ + 1);
  last_ = number;
  ++numbers_;
  if (few_numbers_.size() <= kFewValues) few_numbers_.insert(number);
}

void ColumnGuess::add_text(std::string_view text) {
  if (texts_.contains(text)) return;
  if (texts_.size() < kMaxValues)
    texts_.emplace(text);
  else
    has_more_texts_ = true;
}

void ColumnGuess::append(const ColumnGuess& later) {
  const bool are_all_flags = are_flags() && later.are_flags() &&
                             (!flag_words_ || !later.flag_words_ || *flag_words_ == *later.flag_words_);
  if (are_all_flags) {
    flags_ += later.flags_;
    if (later.flag_words_) flag_words_ = later.flag_words_;
    has_yes_ = has_yes_ || later.has_yes_;
    has_no_ = has_no_ || later.has_no_;
  }
  const bool goes_on = numbers_ == 0 || later.numbers_ == 0 || later.first_ == last_ + 1;
  counts_up_ = counts_up_ && later.counts_up_ && goes_on;
  if (numbers_ == 0) first_ = later.first_;
  if (later.numbers_ > 0) last_ = later.last_;
  rows_ += later.rows_;
  missing_ += later.missing_;
  numbers_ += later.numbers_;
  dates_ += later.dates_;
  for (const double number : later.few_numbers_)
    if (few_numbers_.size() <= kFewValues) few_numbers_.insert(number);
  for (const std::string& text : later.texts_) add_text(text);
  has_more_texts_ = has_more_texts_ || later.has_more_texts_;
}

ColumnType ColumnGuess::type() const {
  if (values() < 2 || is_row_number()) return ColumnType::kIgnore;
  if (are_flags() && has_yes_ && has_no_) return ColumnType::kBool;
  if (dates_ == present()) return ColumnType::kDate;
  // A few fields that are no numbers are mistakes, if there are many different numbers.
  const bool are_mostly_numbers = numbers_ * 100 >= present() * 95 && few_numbers_.size() > kFewValues;
  if (numbers_ == present() || are_mostly_numbers) return ColumnType::kNumber;
  return has_more_texts_ || values() * 2 > present() + 2 ? ColumnType::kIgnore : ColumnType::kCategory;
}

std::string ColumnGuess::why() const {
  if (present() == 0) return "empty";
  if (values() < 2) return "one value only";
  return is_row_number() ? "row numbers" : "most texts occur once";
}

}  // namespace tpack
