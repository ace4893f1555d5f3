#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/schema.h"

namespace tpack {

/// What replaces a missing value: a number or a text, or what the training data have.
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

  /// That of a column of numbers; null if there is none.
  const MissingRule* find(const std::string& column) const;
  /// That of a column by its name; null if there is none.
  const MissingRule* named(const std::string& column) const;
};

template <>
struct Codec<MissingRules> {
  static FieldType type();
  static std::optional<MissingRules> parse(const ConfigNode& node, Reader& reader);
  static ConfigNode dump(const MissingRules& rules);
};

}  // namespace tpack
