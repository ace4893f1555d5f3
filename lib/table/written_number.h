#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace tpack {

/// A number in another notation: 1,234.5, $20000, -20 €, 5%.
struct WrittenNumber {
  double value = 0;         // of 5%: 0.05
  std::string unit;         // %, or the currency; empty if there is none
  bool has_groups = false;  // of three digits
  bool is_open = false;     // 1,234: the comma may be a decimal sign
};

/// Groups of three digits are separated by a comma (by a point or a space if `decimal` is a comma), by an
/// apostrophe or a no-break space. Nothing for other texts.
std::optional<WrittenNumber> parse_written_number(std::string_view field, char decimal);

/// The notation of the numbers in a column, if csv_number cannot read them.
struct NumberForm {
  bool is_written = false;
  std::string unit = {};  // of all numbers, or of some if it is a currency

  bool is_percent() const { return unit == "%"; }
  /// For users: "$", "5% is 0.05", "1,234 is 1234".
  std::string str() const { return unit.empty() ? "1,234 is 1234" : is_percent() ? "5% is 0.05" : unit; }
};

/// Finds the notation of the numbers in a column.
class NumberFormGuess {
 public:
  /// Adds a text that csv_number reads as this number.
  void see_plain(double value, std::string_view text, char decimal) {
    has_plain_ = has_plain_ || value != 0;
    is_sure_ = is_sure_ || text.find(decimal) != std::string_view::npos;
  }
  /// The value of a written number; nothing for other texts.
  std::optional<double> see(std::string_view text, char decimal, char delimiter);
  /// Appends the results of later rows.
  void append(const NumberFormGuess& later);

  NumberForm form() const { return {!units_.empty(), units_.empty() ? "" : units_.rbegin()->first}; }
  /// Why the notations conflict: "numbers with and without a percent sign"; empty if they do not.
  std::string doubt() const;

 private:
  std::map<std::string, size_t> units_;  // how often each is; sorted: none comes first
  bool has_plain_ = false;               // numbers other than 0
  bool is_sure_ = false;                 // some number determines the separator
  std::string open_;                     // the first ambiguous one
};

}  // namespace tpack
