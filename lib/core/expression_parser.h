#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/config_node.h"
#include "core/expression.h"

namespace tpack {

/// One axis of a subscript: x[2], x[1:3], x[-1], x[:].
struct SubscriptAxis {
  std::optional<int64_t> begin = {};  // negative: from the end
  std::optional<int64_t> end = {};
  bool is_item = false;  // the element at `begin` alone
};

/// One node of a parsed expression. It is for the parser and for what evaluates expressions: expression.cpp
/// for values of a config, the cost Expression for outputs of a model, the map Compute for samples.
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
    kChoice,
    kSubscript  // only where the grammar has it
  };
  using Ptr = std::shared_ptr<const ExpressionNode>;

  Kind kind = Kind::kValue;
  Position where;
  ConfigNode value;                    // kValue
  std::string text;                    // name, function, or operator of arithmetic
  std::vector<std::string> operators;  // kCompare: one fewer than parts
  std::vector<Ptr> parts;              // kChoice: condition, then, else
  std::vector<SubscriptAxis> ranges;   // kSubscript: of the first axes
};

/// What expressions of one kind may have besides operators.
struct ExpressionGrammar {
  static constexpr size_t kAnyNumber = std::numeric_limits<size_t>::max();
  struct Function {
    std::string name;
    size_t least = 1;  // values that it takes
    size_t most = 1;
  };
  std::vector<Function> functions;  // sorted
  bool has_subscripts = false;

  /// "cos, exp, float".
  std::string function_names() const;
};

/// That of expressions in a config.
const ExpressionGrammar& config_grammar();

/// Parses the whole text; adds every name to `names`. Errors: ConfigError with the place inside the text.
ExpressionNode::Ptr parse_expression(std::string_view text, const Position& where,
                                     std::vector<Expression::Name>& names,
                                     const ExpressionGrammar& grammar = config_grammar());

}  // namespace tpack
