#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "dataflow/source/csv_values.h"

namespace tpack {

/// What a column of a table has.
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

/// Types of columns that are not to be guessed: {Pclass: category, Ticket: ignore}.
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

/// A field of two words, in any letter case: true and false, yes and no, t and f, y and n, or 1 and 0.
struct YesNo {
  size_t words;  // which two
  bool is_yes;
};
std::optional<YesNo> parse_yes_no(std::string_view field);

/// Guesses what a column has from all of its fields. Numbers and dates may be missing. Not of use, and so
/// ignored: a column with one value only, row numbers, and texts most of which occur once.
class ColumnGuess {
 public:
  void see(std::string_view field, DecimalSign decimal);
  /// Takes what was seen in later rows. What the guess is does not depend on how rows are parted.
  void append(const ColumnGuess& later);
  ColumnType type() const;
  /// Why the column is ignored.
  std::string why() const;

 private:
  static constexpr size_t kMaxValues = 1000;  // of a category
  static constexpr size_t kFewValues = 20;

  size_t present() const { return rows_ - missing_; }
  /// Up to kMaxValues texts, and more than kFewValues numbers if there are more.
  size_t values() const { return texts_.size() + few_numbers_.size(); }
  bool are_flags() const { return flags_ == present(); }
  bool is_row_number() const { return counts_up_ && present() > 2 && missing_ == 0; }
  void see_number(double number);
  void see_flag(std::string_view text);
  void add_text(std::string_view text);

  size_t rows_ = 0;
  size_t missing_ = 0;
  size_t numbers_ = 0;
  size_t dates_ = 0;
  size_t flags_ = 0;                  // fields that are a yes or a no, up to the first other one
  std::optional<size_t> flag_words_;  // YesNo::words of all of them
  bool has_yes_ = false;
  bool has_no_ = false;
  bool counts_up_ = true;  // integers, each one more than that before
  double first_ = 0;       // number
  double last_ = 0;
  std::set<double> few_numbers_;              // the first ones
  std::set<std::string, std::less<>> texts_;  // the first ones that are no numbers
  bool has_more_texts_ = false;
};

inline constexpr int64_t kSecondsOfDay = 86400;

/// The seconds since 1970 of 2020-04-03, 2020-04-03 10:00 or 2020-04-03T10:00:00Z; nothing for other texts.
std::optional<int64_t> parse_date(std::string_view field);

}  // namespace tpack
