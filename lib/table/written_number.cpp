#include "table/written_number.h"

#include <algorithm>
#include <array>

#include "core/text.h"
#include "table/csv.h"

namespace tpack {
namespace {

// Longer ones first if one is a prefix of another.
constexpr std::array<std::string_view, 36> kCurrencies = {
    "US$", "CA$", "AU$", "R$",  "A$",  "C$",  "$",   "€",   "£",   "¥",   "₹",   "₽",
    "₩",   "₺",   "₴",   "₪",   "₫",   "฿",   "USD", "EUR", "GBP", "JPY", "CHF", "INR",
    "CNY", "RUB", "CAD", "AUD", "SEK", "NOK", "DKK", "PLN", "BRL", "MXN", "Fr.", "kr"};

constexpr std::array<std::string_view, 2> kNoBreakSpaces = {"\xC2\xA0", "\xE2\x80\xAF"};

size_t digits_at(std::string_view text) {
  return std::min(text.find_first_not_of("0123456789"), text.size());
}

bool take(std::string_view& text, std::string_view prefix) {
  if (prefix.empty() || !text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

/// Spaces of all kinds at both ends.
std::string_view without_spaces(std::string_view text) {
  const auto shorter = [&] {
    const size_t before = text.size();
    text = trim(text);
    for (const std::string_view space : kNoBreakSpaces) {
      take(text, space);
      if (text.ends_with(space)) text.remove_suffix(space.size());
    }
    return text.size() < before;
  };
  while (shorter()) {
  }
  return text;
}

/// Removes the sign at the beginning and returns it: -1, or 1.
int take_sign(std::string_view& text) {
  if (take(text, "-") || take(text, "\xE2\x88\x92")) return -1;
  take(text, "+");
  return 1;
}

std::string take_currency(std::string_view& text) {
  for (const std::string_view currency : kCurrencies) {
    if (take(text, currency)) return std::string(currency);
    if (text.ends_with(currency)) {
      text.remove_suffix(currency.size());
      return std::string(currency);
    }
  }
  return {};
}

std::string take_unit(std::string_view& text) {
  if (!text.ends_with('%')) return take_currency(text);
  text.remove_suffix(1);
  return "%";
}

/// The separator between groups of digits; empty if there is none.
std::string_view separator_at(std::string_view text, char decimal) {
  const std::array<std::string_view, 4> all = {decimal == ',' ? "." : ",", "'", decimal == ',' ? " " : "",
                                               "\xE2\x80\x99"};
  for (const std::string_view one : all)
    if (!one.empty() && text.starts_with(one)) return one;
  for (const std::string_view one : kNoBreakSpaces)
    if (text.starts_with(one)) return one;
  return {};
}

/// Digits in groups, without their separators, and then the rest; sets `groups` to the number of separators.
std::optional<std::string> join_groups(std::string_view text, char decimal, size_t& groups) {
  const size_t first = digits_at(text);
  std::string digits(text.substr(0, first));
  text.remove_prefix(first);
  const std::string_view separator = separator_at(text, decimal);
  if (!separator.empty() && (first < 1 || first > 3 || digits[0] == '0')) return std::nullopt;
  constexpr size_t kGroup = 3;
  for (; take(text, separator); ++groups) {
    if (digits_at(text) < kGroup) return std::nullopt;
    digits += text.substr(0, kGroup);
    text.remove_prefix(kGroup);
  }
  if (groups > 0 && digits_at(text) > 0) return std::nullopt;
  return digits.append(text);
}

}  // namespace

std::optional<WrittenNumber> parse_written_number(std::string_view field, char decimal) {
  std::string_view text = without_spaces(field);
  int sign = take_sign(text);
  WrittenNumber number;
  number.unit = take_unit(text);
  text = without_spaces(text);
  if (sign == 1) sign = take_sign(text);  // of $-5
  if (text.empty() || (digits_at(text) == 0 && text[0] != decimal)) return std::nullopt;
  size_t groups = 0;
  const auto joined = join_groups(text, decimal, groups);
  const auto value = joined ? csv_number(*joined, decimal) : std::nullopt;
  if (!value) return std::nullopt;
  number.has_groups = groups > 0;
  const std::string_view separator = decimal == ',' ? "." : ",";
  number.is_open = groups == 1 && joined->find(decimal) == std::string::npos &&
                   text.find(separator) != std::string_view::npos;
  constexpr double kPercent = 100;
  number.value = sign * *value / (number.unit == "%" ? kPercent : 1);
  return number;
}

std::optional<double> NumberFormGuess::see(std::string_view text, char decimal, char delimiter) {
  const auto number = parse_written_number(text, decimal);
  if (!number) return std::nullopt;
  ++units_[number->unit];
  // A quoted comma in a table with commas between fields is not a decimal sign; nor is a point if `decimal`
  // is the comma.
  const bool is_open = number->is_open && decimal == '.' && delimiter != ',';
  if (is_open && open_.empty()) open_ = text;
  is_sure_ = is_sure_ || (number->has_groups && !is_open);
  return number->value;
}

void NumberFormGuess::append(const NumberFormGuess& later) {
  for (const auto& [unit, count] : later.units_) units_[unit] += count;
  has_plain_ = has_plain_ || later.has_plain_;
  is_sure_ = is_sure_ || later.is_sure_;
  if (open_.empty()) open_ = later.open_;
}

std::string NumberFormGuess::doubt() const {
  const size_t without = units_.contains("") ? 1 : 0;
  if (units_.contains("%") && (units_.size() > 1 || has_plain_))
    return "numbers with and without a percent sign";
  if (units_.size() > without + 1) {
    std::vector<std::string> currencies;
    for (const auto& [unit, count] : units_)
      if (!unit.empty()) currencies.push_back(unit);
    return "amounts in " + join_first(currencies);
  }
  if (!open_.empty() && !is_sure_)
    return "numbers such as '" + open_ + "', where the comma may be a decimal sign or a thousands separator";
  return {};
}

}  // namespace tpack
