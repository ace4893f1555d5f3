#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/config_node.h"
#include "core/error.h"

namespace tpack {

/// The values of the names in an expression. `env.NAME` needs no scope: it is an environment variable, typed
/// like a plain YAML scalar.
class Scope {
 public:
  virtual ~Scope() = default;
  /// The value of a name, dots included ("width", "vars.width"); empty if there is none.
  virtual std::optional<ConfigNode> lookup(const std::string& name) const = 0;
  /// The names to suggest for an unknown `name`.
  virtual std::vector<std::string> known_names(const std::string& name) const = 0;
};

/// The entries of a map, then an outer scope (borrowed, may be null). Example: the parameters of a block,
/// then those of the block around it.
class MapScope final : public Scope {
 public:
  explicit MapScope(ConfigNode values, const Scope* outer = nullptr)
      : values_(std::move(values)), outer_(outer) {}
  std::optional<ConfigNode> lookup(const std::string& name) const override;
  std::vector<std::string> known_names(const std::string& name) const override;

 private:
  ConfigNode values_;
  const Scope* outer_;
};

struct ExpressionNode;

/// The syntax that one kind of expressions has in addition to operators and core/functions.def.
struct ExpressionGrammar {
  struct Function {
    std::string name;
    bool takes_many = false;  // false: one value
  };
  std::vector<Function> functions = {};
  bool has_subscripts = false;

  /// The names of all functions: "abs, ceil, clip".
  std::string function_names() const;
};

/// A parsed expression: what is inside `$(...)`, or the value of a field that is an expression.
/// + - * / // % ** (// and % as in Python, rounding down), comparisons (also chained), `and or not`,
/// `a if c else b`, parentheses, numbers, 'strings', true and false, dotted names, and the functions of
/// core/functions.def. `env.LR or 0.1`: an unset variable is an error without an `or`. Threads: const methods
/// may run at once.
class Expression {
 public:
  static constexpr size_t kMaxLength = 1000;  // bytes: bounds the depth of the tree

  /// A name in the text that was parsed.
  struct Name {
    std::string name;
    size_t offset = 0;  // bytes
  };

  /// `where` is the place of the first character; errors point into the text.
  /// Errors: ConfigError.
  static Expression parse(std::string_view text, const Position& where = {},
                          const ExpressionGrammar& grammar = {});
  /// For code that evaluates it over other values than those of a config.
  const ExpressionNode& root() const { return *root_; }
  /// Errors: ConfigError for unknown names, types that do not fit, overflow, division by zero.
  ConfigNode evaluate(const Scope& scope) const;
  /// Finds errors that do not depend on the values of its names: an unset environment variable, a division by
  /// zero. Errors: as evaluate.
  void check() const;
  enum class Result : uint8_t { kNumber, kTruth, kText };
  /// The type of its value if all names, except environment variables, are numbers; nothing if the type
  /// depends on their values.
  std::optional<Result> result_of_numbers() const;
  /// The dotted names in the expression, in order, with repetitions.
  const std::vector<Name>& names() const { return names_; }

 private:
  Expression(std::shared_ptr<const ExpressionNode> root, std::vector<Name> names)
      : root_(std::move(root)), names_(std::move(names)) {}

  std::shared_ptr<const ExpressionNode> root_;
  std::vector<Name> names_;
};

/// The environment variable of a name "env.NAME"; empty if it is not set.
std::optional<ConfigNode> lookup_environment(const std::string& name);
bool is_environment_name(std::string_view name);
/// "; write $(env.LR) for the environment variable LR" for a text with $LR or ${LR}, else "".
std::string environment_hint(std::string_view text);

}  // namespace tpack
