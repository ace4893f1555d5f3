#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "table/csv_values.h"

namespace tpack {

/// The type of a column.
enum class ColumnType : uint8_t { kNumber, kCategory, kDate, kBool, kId, kIgnore };

template <>
struct EnumNames<ColumnType> {
  static constexpr std::array<std::pair<const char*, ColumnType>, 6> kNames = {
      {{"number", ColumnType::kNumber},
       {"category", ColumnType::kCategory},
       {"date", ColumnType::kDate},
       {"bool", ColumnType::kBool},
       {"id", ColumnType::kId},
       {"ignore", ColumnType::kIgnore}}};
};

/// Types of columns from the config: {Pclass: category, Ticket: ignore}.
struct ColumnTypes {
  std::vector<std::pair<std::string, ColumnType>> all = {};
  Position position = {};
};

template <>
struct Codec<ColumnTypes> {
  static FieldType type();
  static std::optional<ColumnTypes> parse(const ConfigNode& node, Reader& reader);
  static ConfigNode dump(const ColumnTypes& types);
};

/// A boolean field, in any letter case: true and false, yes and no, t and f, y and n, or 1 and 0.
struct YesNo {
  size_t words;  // which two
  bool is_yes;
};
std::optional<YesNo> parse_yes_no(std::string_view field);

/// Guesses the type of a column from all of its fields. Numbers and dates may be missing: see
/// is_missing_in_csv, or a word without digits that is the only text among them. Ignored as useless: columns
/// with only one value, row numbers, and texts that mostly occur once.
class ColumnGuess {
 public:
  void see(std::string_view field, const FieldStyle& style);
  /// Appends the results of later rows. The guess does not depend on the division into parts.
  void append(const ColumnGuess& later);
  ColumnType type() const;
  /// Why the column is ignored.
  std::string why() const;
  /// A remark on a column of texts: "numbers except 'a', 'b'"; empty if there is none.
  std::string doubt() const;
  /// The word among numbers or dates that means a missing value; empty if there is none.
  std::string missing_word() const;
  size_t missing_words() const { return missing_word().empty() ? 0 : others_; }
  /// The notation of the numbers; the notation of csv_number if they are inconsistent.
  NumberForm form() const {
    return decimal_commas_ > 0 || !forms_.doubt().empty() ? NumberForm() : forms_.form();
  }
  const DateGuess& dates() const { return dates_; }
  /// True if all fields are integers and none is missing.
  bool are_integers() const { return rows_ > 0 && integers_ == rows_; }

 private:
  static constexpr size_t kMaxValues = 1000;  // of a category
  static constexpr size_t kFewValues = 20;
  static constexpr size_t kMaxWords = 4;

  size_t present() const { return rows_ - missing_; }
  /// Up to kMaxValues texts, and more than kFewValues numbers if there are more.
  size_t values() const { return texts_.size() + few_numbers_.size(); }
  bool are_flags() const { return flags_ == present(); }
  bool is_row_number() const { return counts_up_ && present() > 2 && missing_ == 0; }
  size_t numbers() const { return plain_ + written_; }
  bool has_many_numbers() const { return few_numbers_.size() + few_written_.size() > kFewValues; }
  bool has_mostly_single_texts() const { return has_more_texts_ || values() * 2 > present() + 2; }
  bool are_numbers() const;
  bool are_dates() const;
  void see_number(double number);
  void see_flag(std::string_view text);
  void see_other(std::string_view text, const FieldStyle& style);
  void add_text(std::string_view text);

  size_t rows_ = 0;
  size_t missing_ = 0;
  size_t plain_ = 0;    // numbers in the notation of csv_number
  size_t written_ = 0;  // other numbers
  size_t integers_ = 0;
  size_t compact_dates_ = 0;          // 20240519, which are numbers, too
  size_t flags_ = 0;                  // boolean fields, up to the first other one
  std::optional<size_t> flag_words_;  // YesNo::words of all of them
  bool has_yes_ = false;
  bool has_no_ = false;
  bool counts_up_ = true;  // integers, each one more than the one before
  double first_ = 0;       // number
  double last_ = 0;
  NumberFormGuess forms_;
  DateGuess dates_;
  size_t decimal_commas_ = 0;                 // texts that are numbers with one
  std::string decimal_comma_;                 // the first of them
  std::set<double> few_numbers_;              // the first ones
  std::set<double> few_written_;              // the same of written ones
  std::set<std::string, std::less<>> texts_;  // the first ones that are not plain numbers
  std::set<std::string, std::less<>> words_;  // of these, those that are neither numbers nor dates
  size_t others_ = 0;                         // how many fields have such words
  bool has_more_texts_ = false;
};

/// Whether a column is named like an id: "id", "user_id", "PassengerId".
bool names_an_id(const std::string& column);
/// Whether a column is named like a date or time: "date", "Date Time", "timestamp", "ds".
bool names_a_time(const std::string& column);

}  // namespace tpack
