#pragma once

#include <string>
#include <vector>

#include "core/field.h"
#include "graph/builder.h"

namespace tpack {

/// Factors of variables: patterns (is_for_variable) in order; the first matching one counts.
struct VariableFactors {
  struct Entry {
    Ref<VariablePattern> pattern;
    double factor = 1;
  };
  std::vector<Entry> entries;

  bool empty() const { return entries.empty(); }
  /// 1 for a variable without a matching pattern. Errors: ConfigError for a pattern that is not a regular
  /// expression.
  double of(const std::string& variable) const;
  /// The factor of each element of a flat block [n]. Errors: ConfigError for patterns without any variable of
  /// the block; the texts begin with `what`.
  Symbol of_elements(Builder& b, const FlatLayout& layout, const std::string& what) const;

 private:
  /// The index of the matching entry; the number of entries if there is none.
  size_t entry_for(const std::string& variable) const;
};

/// A map {PATTERN: FACTOR}.
template <>
struct Codec<VariableFactors> {
  static FieldType type() { return FieldType::map_of(FieldType::number(), "factors by variable"); }
  static std::optional<VariableFactors> parse(const ConfigNode& node, Reader& reader);
  static ConfigNode dump(const VariableFactors& factors);
};

}  // namespace tpack
