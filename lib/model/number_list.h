#pragma once

#include <optional>
#include <vector>

#include "core/field.h"

namespace tpack {

/// One number for all, or a list with one for each: `3`, `[1, 2, 3]`. Empty if it is not set.
struct NumberList {
  std::vector<double> values = {};

  bool empty() const { return values.empty(); }
};

template <>
struct Codec<NumberList> {
  static FieldType type() {
    FieldType type = FieldType::either({FieldType::number(), FieldType::list_of(FieldType::number())},
                                       "a number or a list of numbers");
    type.nullable = true;
    return type;
  }
  static std::optional<NumberList> parse(const ConfigNode& node, Reader& reader) {
    if (node.is_null()) return NumberList{};
    if (node.is_number()) return NumberList{{node.as_double()}};
    if (!node.is_list() || node.size() == 0) {
      reader.wrong_type(node, "a number or a list of numbers");
      return std::nullopt;
    }
    auto values = Codec<std::vector<double>>::parse(node, reader);
    return values ? std::optional(NumberList{std::move(*values)}) : std::nullopt;
  }
  static ConfigNode dump(const NumberList& list) {
    if (list.empty()) return {};
    return list.values.size() == 1 ? ConfigNode(list.values[0])
                                   : Codec<std::vector<double>>::dump(list.values);
  }
};

}  // namespace tpack
