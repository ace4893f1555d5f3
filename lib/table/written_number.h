#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace tpack {

/// A number as people write it: 1,234.5, $20000, -20 €, 5%.
struct WrittenNumber {
  double value = 0;         // of 5%: 0.05
  std::string unit;         // %, or the currency as it is written; empty if there is none
  bool has_groups = false;  // of three digits
  bool is_open = false;     // 1,234 alone: its comma may be a decimal sign
};

/// Groups of three digits are separated by a comma (by a point or a space if `decimal` is a comma), by an
/// apostrophe or a no-break space. Nothing for other texts.
std::optional<WrittenNumber> parse_written_number(std::string_view field, char decimal);

/// How the numbers of a column are written, where it is not as csv_number reads them.
struct NumberForm {
  bool is_written = false;
  std::string unit = {};  // that all have, or some if it is a currency

  bool is_percent() const { return unit == "%"; }
  /// For people: "$", "5% is 0.05", "1,234 is 1234".
  std::string str() const { return unit.empty() ? "1,234 is 1234" : is_percent() ? "5% is 0.05" : unit; }
};

/// Finds out how the numbers of a column are written.
class NumberFormGuess {
 public:
  /// A text that csv_number reads as this number.
  void see_plain(double value, std::string_view text, char decimal) {
    has_plain_ = has_plain_ || value != 0;
    is_sure_ = is_sure_ || text.find(decimal) != std::string_view::npos;
  }
  /// The value of a written number; nothing for other texts.
  std::optional<double> see(std::string_view text, char decimal, char delimiter);
  /// Takes what was seen in later rows.
  void append(const NumberFormGuess& later);

  NumberForm form() const { return {!units_.empty(), units_.empty() ? "" : units_.rbegin()->first}; }
  /// Why the numbers do not go together: "numbers with and without a percent sign"; empty if they do.
  std::string doubt() const;

 private:
  std::map<std::string, size_t> units_;  // how often each is; sorted: none comes first
  bool has_plain_ = false;               // numbers other than 0
  bool is_sure_ = false;                 // some number tells what the separator is
  std::string open_;                     // the first that does not tell
};

}  // namespace tpack
