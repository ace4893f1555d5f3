#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/schema.h"

namespace tpack {

/// The replacement for a missing value: a number, a text, or a statistic of the training data.
struct MissingRule {
  enum class By : uint8_t { kNumber, kText, kMean, kMedian, kMostCommon };

  By by = By::kNumber;
  double number = 0;
  std::string text = {};
  Position position = {};

  /// True if the training data decide it.
  bool is_fitted() const { return by == By::kMean || by == By::kMedian || by == By::kMostCommon; }
};

/// `missing: median` for all columns of numbers, or {Age: median, Embarked: S} by column.
struct MissingRules {
  std::optional<MissingRule> of_all = {};
  std::vector<std::pair<std::string, MissingRule>> by_column = {};

  /// The rule of a column of numbers; null if there is none.
  const MissingRule* find(const std::string& column) const;
  /// The rule of a column by its name; null if there is none.
  const MissingRule* named(const std::string& column) const;
};

template <>
struct Codec<MissingRules> {
  static FieldType type();
  static std::optional<MissingRules> parse(const ConfigNode& node, Reader& reader);
  static ConfigNode dump(const MissingRules& rules);
};

}  // namespace tpack
