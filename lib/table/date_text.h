#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "core/field.h"

namespace tpack {

inline constexpr int64_t kSecondsOfDay = 86400;

/// The order of day and month in dates such as 05/06/2024.
enum class DateOrder : uint8_t { kAuto, kDayFirst, kMonthFirst };

template <>
struct EnumNames<DateOrder> {
  static constexpr std::array<std::pair<const char*, DateOrder>, 3> kNames = {
      {{"auto", DateOrder::kAuto},
       {"day_first", DateOrder::kDayFirst},
       {"month_first", DateOrder::kMonthFirst}}};
};

/// A text as a date: the seconds since 1970, in UTC if the text has a zone. Both are the same unless the
/// order is ambiguous, as in 05/06/2024; nothing if the text is not a date.
struct DateReadings {
  std::optional<int64_t> day_first;
  std::optional<int64_t> month_first;
  double fraction = 0;  // of a second, after them
};

/// Reads these dates: 2024-05-19, 2024/5/19, 2024.05.19, 20240519, 2024-05; 19.05.2024, 19/05/2024,
/// 05/19/2024, 5/19/24; 19 May 2024, 19-May-24, May 19, 2024, May 2024; a day of the week before them; and a
/// time after them: 9:00, 09:00:30.5, 9:00 PM, 9 PM, with a zone: Z, UTC, +02:00. Source: ISO 8601, RFC 5322,
/// what Excel and pandas write; years of two digits as POSIX strptime.
DateReadings read_date(std::string_view field);

/// The date in one order; for kAuto, nothing if the two orders result in different dates.
std::optional<int64_t> parse_date(std::string_view field, DateOrder order = DateOrder::kAuto);

/// Finds the order of day and month in the texts of a column.
class DateGuess {
 public:
  /// True if the text is a date of the order; kAuto: of any.
  bool see(std::string_view text, DateOrder order = DateOrder::kAuto);
  /// Appends the results of later rows.
  void append(const DateGuess& later);

  size_t dates() const { return dates_; }
  /// The order of all dates; kAuto if it does not matter or is ambiguous.
  DateOrder order() const;
  /// True if some dates fit only one order, and others only the other one.
  bool is_mixed() const { return only_day_first_ > 0 && only_month_first_ > 0; }
  /// The first text where day and month are ambiguous; empty if the order is known.
  std::string open() const { return order() == DateOrder::kAuto ? open_ : ""; }

 private:
  size_t dates_ = 0;
  size_t only_day_first_ = 0;
  size_t only_month_first_ = 0;
  std::string open_;  // the first date that is valid, but different, in both orders
};

}  // namespace tpack
