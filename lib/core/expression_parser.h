#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/config_node.h"
#include "core/expression.h"

namespace tpack {

/// One node of a parsed expression. It is for the parser and for what evaluates expressions: expression.cpp
/// for values of a config, the cost Expression for outputs of a model.
struct ExpressionNode {
  enum class Kind : uint8_t {
    kValue,
    kName,
    kCall,
    kNegate,
    kNot,
    kAnd,
    kOr,
    kArithmetic,
    kCompare,
    kChoice
  };
  using Ptr = std::shared_ptr<const ExpressionNode>;

  Kind kind = Kind::kValue;
  Position where;
  ConfigNode value;                    // kValue
  std::string text;                    // name, function, or operator of arithmetic
  std::vector<std::string> operators;  // kCompare: one fewer than parts
  std::vector<Ptr> parts;              // kChoice: condition, then, else
};

/// The functions that an expression in a config may call, sorted.
const std::vector<std::string>& expression_functions();

/// Parses the whole text; adds every name to `names`. Of the functions, min and max take any number of
/// values, all others one. Errors: ConfigError with the place inside the text.
ExpressionNode::Ptr parse_expression(std::string_view text, const Position& where,
                                     std::vector<Expression::Name>& names,
                                     const std::vector<std::string>& functions = expression_functions());

}  // namespace tpack
