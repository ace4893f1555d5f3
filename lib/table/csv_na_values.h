#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/schema.h"

namespace tpack {

/// Words that mean a missing value, in addition to those of is_missing_in_csv: `na_values: unknown`, a list,
/// or lists by column.
struct NaValues {
  std::vector<std::string> of_all = {};
  std::vector<std::pair<std::string, std::vector<std::string>>> by_column = {};
  Position position = {};

  bool empty() const { return of_all.empty() && by_column.empty(); }
};

template <>
struct Codec<NaValues> {
  static FieldType type();
  static std::optional<NaValues> parse(const ConfigNode& node, Reader& reader);
  static ConfigNode dump(const NaValues& values);
};

/// The same for the columns of a table.
class NaWords {
 public:
  NaWords() = default;
  NaWords(const NaValues& values, const std::vector<std::string>& columns);

  bool empty() const { return by_column_.empty(); }
  /// Empties fields that mean a missing value.
  void clear_in(std::vector<std::string_view>& fields) const;

 private:
  struct Word {
    std::string text;
    std::optional<double> number;  // -999 also matches -999.0
  };

  static bool is_one(std::string_view field, const Word& word);

  std::vector<std::vector<Word>> by_column_;
};

}  // namespace tpack
