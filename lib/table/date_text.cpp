#include "table/date_text.h"

#include <algorithm>
#include <cctype>
#include <chrono>

#include "core/text.h"

namespace tpack {
namespace {

constexpr std::array<std::string_view, 12> kMonths = {"january",   "february", "march",    "april",
                                                      "may",       "june",     "july",     "august",
                                                      "september", "october",  "november", "december"};
constexpr std::array<std::string_view, 7> kWeekdays = {"monday", "tuesday",  "wednesday", "thursday",
                                                       "friday", "saturday", "sunday"};

struct Number {
  int value = 0;
  size_t digits = 0;
};

/// The rest of a text.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  bool at_end() const { return text_.empty(); }
  bool at_letter() const { return !at_end() && std::isalpha(static_cast<unsigned char>(text_[0])) != 0; }
  char peek() const { return at_end() ? '\0' : text_[0]; }
  bool take(char c) {
    if (peek() != c || at_end()) return false;
    text_.remove_prefix(1);
    return true;
  }
  /// True if there was at least one of the characters.
  bool take_any(std::string_view characters) {
    const size_t count = std::min(text_.find_first_not_of(characters), text_.size());
    text_.remove_prefix(count);
    return count > 0;
  }
  /// All digits here, at most 8 of them.
  std::optional<Number> number() {
    constexpr size_t kMost = 8;
    const size_t count = std::min(text_.find_first_not_of("0123456789"), text_.size());
    if (count == 0 || count > kMost) return std::nullopt;
    Number number{0, count};
    for (size_t i = 0; i < count; ++i) number.value = number.value * 10 + (text_[i] - '0');
    text_.remove_prefix(count);
    return number;
  }
  std::optional<int> two_digits() {
    const auto found = number();
    return found && found->digits == 2 ? std::optional(found->value) : std::nullopt;
  }
  /// The letters here, in lower case.
  std::string word() {
    std::string letters;
    while (at_letter()) {
      letters += static_cast<char>(std::tolower(static_cast<unsigned char>(text_[0])));
      text_.remove_prefix(1);
    }
    return letters;
  }

 private:
  std::string_view text_;
};

/// The index of a name, written in full or with at least three letters.
template <size_t count>
std::optional<size_t> find_name(const std::array<std::string_view, count>& names, const std::string& word) {
  constexpr size_t kShortest = 3;
  if (word.size() < kShortest) return std::nullopt;
  for (size_t i = 0; i < count; ++i) {
    const bool is_short = word.size() == kShortest || word == "sept" || word == "tues" || word == "thurs";
    if (word == names[i] || (is_short && names[i].starts_with(word))) return i;
  }
  return std::nullopt;
}

std::optional<int64_t> days_of(int year, int month, int day) {
  const std::chrono::year_month_day date{std::chrono::year(year),
                                         std::chrono::month(static_cast<unsigned>(month)),
                                         std::chrono::day(static_cast<unsigned>(day))};
  if (!date.ok()) return std::nullopt;
  return std::chrono::sys_days(date).time_since_epoch().count();
}

DateReadings both(std::optional<int64_t> days) { return {days, days}; }

/// A year with four or two digits; else nothing.
std::optional<int> year_of(const std::optional<Number>& number, bool may_be_short) {
  constexpr int kFirstOfLastCentury = 69;
  if (number && number->digits == 4) return number->value;
  if (!number || number->digits != 2 || !may_be_short) return std::nullopt;
  return number->value + (number->value < kFirstOfLastCentury ? 2000 : 1900);
}

/// The th of 19th.
void take_ordinal(Scanner& in) {
  Scanner ahead = in;
  const std::string word = ahead.word();
  if (word == "st" || word == "nd" || word == "rd" || word == "th") in = ahead;
}

/// After the year.
DateReadings year_first(Scanner& in, int year) {
  const char sign = in.peek();
  if ((sign != '-' && sign != '/' && sign != '.') || !in.take(sign)) return {};
  const auto month = in.number();
  if (!month || month->digits > 2) return {};
  if (in.at_end() && sign != '.' && month->digits == 2) return both(days_of(year, month->value, 1));
  if (!in.take(sign)) return {};
  const auto day = in.number();
  return day && day->digits <= 2 ? both(days_of(year, month->value, day->value)) : DateReadings();
}

/// 19May2024, 19 May 2024, 19-May-24: after the day.
DateReadings named_after_day(Scanner& in, int day) {
  const auto month = find_name(kMonths, in.word());
  if (!month) return {};
  in.take_any(" -/.,");
  const auto year = year_of(in.number(), true);
  return year ? both(days_of(*year, static_cast<int>(*month) + 1, day)) : DateReadings();
}

/// 19/05/2024, 05/19/2024: after the first number.
DateReadings short_first(Scanner& in, const Number& first) {
  take_ordinal(in);
  Scanner ahead = in;
  ahead.take_any(" -/.");
  if (ahead.at_letter()) {
    in = ahead;
    return named_after_day(in, first.value);
  }
  const char sign = in.peek();
  if ((sign != '/' && sign != '-' && sign != '.') || !in.take(sign)) return {};
  const auto second = in.number();
  if (!second || second->digits > 2 || !in.take(sign)) return {};
  // Numbers such as 1.2.10 are more likely versions than dates.
  const bool may_be_short = sign == '/' || (sign == '.' && first.digits == 2 && second->digits == 2);
  const auto year = year_of(in.number(), may_be_short);
  if (!year) return {};
  const auto day_first = days_of(*year, second->value, first.value);
  return sign == '.' ? both(day_first) : DateReadings{day_first, days_of(*year, first.value, second->value)};
}

/// May 19, 2024 and May 2024: after the month.
DateReadings named_first(Scanner& in, int month) {
  in.take_any(" -/.");
  const auto day = in.number();
  if (!day) return {};
  if (day->digits == 4) return both(days_of(day->value, month, 1));
  if (day->digits > 2) return {};
  take_ordinal(in);
  in.take_any(" -/,");
  const auto year = year_of(in.number(), false);
  return year ? both(days_of(*year, month, day->value)) : DateReadings();
}

/// 20240519
DateReadings compact(int number) {
  constexpr int kFirstYear = 1800;
  constexpr int kLastYear = 2200;
  const int year = number / 10'000;
  return year < kFirstYear || year > kLastYear ? DateReadings()
                                               : both(days_of(year, number / 100 % 100, number % 100));
}

/// The days, of either order.
DateReadings read_days(Scanner& in) {
  if (in.at_letter()) {
    std::string word = in.word();
    if (find_name(kWeekdays, word)) {
      in.take_any(" ,.");
      if (!in.at_letter()) return read_days(in);
      word = in.word();
    }
    const auto month = find_name(kMonths, word);
    return month ? named_first(in, static_cast<int>(*month) + 1) : DateReadings();
  }
  const auto number = in.number();
  if (!number) return {};
  if (number->digits == 8) return compact(number->value);
  if (number->digits == 4) return year_first(in, number->value);
  return number->digits <= 2 ? short_first(in, *number) : DateReadings();
}

/// Seconds to add for a time zone; nothing if the text is not a zone.
std::optional<int64_t> read_zone(Scanner& in) {
  in.take_any(" ");
  if (in.at_end()) return 0;
  if (in.at_letter()) {
    const std::string zone = in.word();
    return in.at_end() && (zone == "z" || zone == "utc" || zone == "gmt") ? std::optional<int64_t>(0)
                                                                          : std::nullopt;
  }
  const int64_t sign = in.peek() == '-' ? 1 : -1;
  if (!in.take('+') && !in.take('-')) return std::nullopt;
  const auto first = in.number();
  if (!first || (first->digits != 2 && first->digits != 4)) return std::nullopt;
  int64_t hours = first->value;
  int64_t minutes = 0;
  if (first->digits == 4) {
    hours = first->value / 100;
    minutes = first->value % 100;
  } else if (in.take(':')) {
    const auto second = in.two_digits();
    if (!second) return std::nullopt;
    minutes = *second;
  }
  constexpr int64_t kMaxHours = 14;
  if (!in.at_end() || hours > kMaxHours || minutes > 59) return std::nullopt;
  return sign * (hours * 3600 + minutes * 60);
}

/// The digits after a decimal sign.
double read_fraction(Scanner& in) {
  double value = 0;
  for (double unit = 0.1; std::isdigit(static_cast<unsigned char>(in.peek())) != 0; unit /= 10) {
    value += unit * (in.peek() - '0');
    in.take(in.peek());
  }
  return value;
}

/// Minutes and seconds after an hour; nothing if they are wrong.
std::optional<int64_t> read_minutes(Scanner& in, double& fraction) {
  const auto minute = in.two_digits();
  if (!minute || *minute > 59) return std::nullopt;
  int64_t seconds = int64_t{*minute} * 60;
  if (!in.take(':')) return seconds;
  const auto second = in.two_digits();
  if (!second || *second > 60) return std::nullopt;
  seconds += *second;
  if (in.take('.') || in.take(',')) fraction = read_fraction(in);
  return seconds;
}

/// The hour of a 12-hour clock; else nothing.
std::optional<int> hour_of_half(int hour, bool is_after_noon) {
  if (hour < 1 || hour > 12) return std::nullopt;
  return hour % 12 + (is_after_noon ? 12 : 0);
}

/// Seconds of the day, in UTC if there is a zone; 0 if there is no time.
std::optional<int64_t> read_time(Scanner& in, double& fraction) {
  if (in.at_end()) return 0;
  if (!in.take('T') && !in.take_any(", ")) return std::nullopt;
  const auto number = in.number();
  if (!number || number->digits > 2 || number->value > 23) return std::nullopt;
  int hour = number->value;
  std::optional<int64_t> seconds = 0;
  const bool has_minutes = in.take(':');
  if (has_minutes) seconds = read_minutes(in, fraction);
  if (!seconds) return std::nullopt;
  Scanner ahead = in;
  ahead.take_any(" ");
  const std::string half = ahead.word();
  if (half == "am" || half == "pm") {
    in = ahead;
    const auto of_day = hour_of_half(hour, half == "pm");
    if (!of_day) return std::nullopt;
    hour = *of_day;
  } else if (!has_minutes) {
    return std::nullopt;
  }
  const auto zone = read_zone(in);
  return zone ? std::optional(int64_t{hour} * 3600 + *seconds + *zone) : std::nullopt;
}

}  // namespace

DateReadings read_date(std::string_view field) {
  Scanner in(trim(field));
  DateReadings found = read_days(in);
  if (!found.day_first && !found.month_first) return {};
  const auto time = read_time(in, found.fraction);
  if (!time) return {};
  if (found.day_first) found.day_first = *found.day_first * kSecondsOfDay + *time;
  if (found.month_first) found.month_first = *found.month_first * kSecondsOfDay + *time;
  return found;
}

std::optional<int64_t> parse_date(std::string_view field, DateOrder order) {
  const DateReadings found = read_date(field);
  if (order == DateOrder::kDayFirst) return found.day_first;
  if (order == DateOrder::kMonthFirst) return found.month_first;
  if (!found.day_first || found.day_first == found.month_first) return found.month_first;
  return found.month_first ? std::nullopt : found.day_first;
}

bool DateGuess::see(std::string_view text, DateOrder order) {
  DateReadings found = read_date(text);
  if (order == DateOrder::kDayFirst) found.month_first.reset();
  if (order == DateOrder::kMonthFirst) found.day_first.reset();
  if (!found.day_first && !found.month_first) return false;
  ++dates_;
  if (!found.month_first) ++only_day_first_;
  if (!found.day_first) ++only_month_first_;
  const bool is_open = found.day_first && found.month_first && *found.day_first != *found.month_first;
  if (is_open && open_.empty()) open_ = text;
  return true;
}

void DateGuess::append(const DateGuess& later) {
  dates_ += later.dates_;
  only_day_first_ += later.only_day_first_;
  only_month_first_ += later.only_month_first_;
  if (open_.empty()) open_ = later.open_;
}

DateOrder DateGuess::order() const {
  if (only_day_first_ > 0 && only_month_first_ == 0) return DateOrder::kDayFirst;
  if (only_month_first_ > 0 && only_day_first_ == 0) return DateOrder::kMonthFirst;
  return DateOrder::kAuto;
}

}  // namespace tpack
