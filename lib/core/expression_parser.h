#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/config_node.h"
#include "core/expression.h"
#include "core/functions.h"

namespace tpack {

/// One axis of a subscript: x[2], x[1:3], x[-1], x[:].
struct SubscriptAxis {
  std::optional<int64_t> begin = {};  // negative: from the end
  std::optional<int64_t> end = {};
  bool is_item = false;  // the element at `begin` alone
};

/// One node of a parsed expression, for the parser and for the code that evaluates expressions:
/// core/expression.cpp (values of a config), model/tensor_formula.cpp (tensors), dataflow/sample_formula.cpp
/// (samples).
struct ExpressionNode {
  enum class Kind : uint8_t {
    kValue,
    kName,
    kCall,  // of a function, by name or as an operator
    kAnd,
    kOr,
    kCompare,
    kChoice,
    kSubscript  // only where the grammar has it
  };
  using Ptr = std::shared_ptr<const ExpressionNode>;

  Kind kind = Kind::kValue;
  Position where;
  ConfigNode value;                                      // kValue
  std::string text;                                      // kName; kCall: as it is written
  const pointwise::Operation* operation = nullptr;       // kCall; null for what only the grammar has
  std::vector<const pointwise::Operation*> comparisons;  // kCompare: one fewer than parts
  std::vector<Ptr> parts;                                // kChoice: condition, then, else
  std::vector<SubscriptAxis> ranges;                     // kSubscript: of the first axes
};

/// Parses the whole text; adds every name to `names`. Errors: ConfigError with the place inside the text.
ExpressionNode::Ptr parse_expression(std::string_view text, const Position& where,
                                     std::vector<Expression::Name>& names, const ExpressionGrammar& grammar);

}  // namespace tpack
