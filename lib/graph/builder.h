#pragma once

#include <concepts>
#include <initializer_list>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "graph/graph.h"
#include "graph/op.h"
#include "graph/pointwise.h"
#include "graph/variables.h"

namespace tpack {

/// The purpose of a graph.
enum class Phase : uint8_t { kTraining, kInference };

/// The meaning of an output's values, declared by the layer that computes them; `infer` writes the output
/// accordingly. By default unknown.
struct OutputMeaning {
  double least = -std::numeric_limits<double>::infinity();
  double most = std::numeric_limits<double>::infinity();
  bool sums_to_one = false;  // over the last axis: probabilities of exclusive classes

  bool operator==(const OutputMeaning&) const = default;
  bool has_range() const { return least > -std::numeric_limits<double>::infinity(); }
  /// Each number is a probability of its own.
  bool is_probability() const { return least == 0 && most == 1 && !sums_to_one; }
  bool is_any_probability() const { return sums_to_one || is_probability(); }
};
inline constexpr OutputMeaning kProbabilities = {0, 1};
inline constexpr OutputMeaning kClassProbabilities = {0, 1, true};

/// Emits nodes into a graph, names them by the scopes that are open, and declares variables. Layers get one.
/// Threads: one at a time.
class Builder {
 public:
  struct Options {
    Phase phase = Phase::kTraining;
    DType float_type = DType::kFloat32;  // kFloat64 for the reference backend in double precision
    bool builds_on = true;               // names, reads and inputs of the nodes that are in the graph count
  };
  Builder(Graph& graph, VariableTable& variables, Options options);
  Builder(const Builder&) = delete;
  Builder& operator=(const Builder&) = delete;

  Graph& graph() { return graph_; }
  VariableTable& variables() { return variables_; }
  bool training() const { return options_.phase == Phase::kTraining; }
  DType float_type() const { return options_.float_type; }

  /// Opens a name scope until it is destroyed: nodes and variables inside are called "name/...".
  class NameScope {
   public:
    NameScope(Builder& b, std::string_view name, Position origin = {});
    ~NameScope();
    NameScope(const NameScope&) = delete;
    NameScope& operator=(const NameScope&) = delete;

   private:
    Builder& builder_;
    std::string outer_path_;
    std::string outer_variable_path_;
    Position outer_origin_;
  };
  /// Until it is destroyed, variables are called "NAME/...", wherever the nodes are: for parts of a network
  /// that are emitted several times with the same variables.
  class VariablesBelow {
   public:
    VariablesBelow(Builder& b, std::string name)
        : builder_(b), outer_(std::exchange(b.variable_path_, std::move(name))) {}
    ~VariablesBelow() { builder_.variable_path_ = std::move(outer_); }
    VariablesBelow(const VariablesBelow&) = delete;
    VariablesBelow& operator=(const VariablesBelow&) = delete;

   private:
    Builder& builder_;
    std::string outer_;
  };
  /// The scope's path, without a slash at the end.
  const std::string& path() const { return path_; }
  const Position& origin() const { return origin_; }

  /// Adds a node. Errors: ShapeError with the layer's position and path in front of the text.
  const Node& emit(std::shared_ptr<const Op> op, std::vector<Symbol> inputs);
  template <class OpClass>
  const Node& emit(typename OpClass::Params params, std::vector<Symbol> inputs) {
    return emit(std::make_shared<const OpClass>(std::move(params)), std::move(inputs));
  }

  /// A value that the caller feeds each step. Errors: InternalError for a second one of the name.
  Symbol input(const std::string& name, TensorSpec spec);
  /// The same for an image, [N, C, H, W].
  Symbol image_input(const std::string& name, TensorSpec spec);
  /// The full name of a variable of the scope that is open: "<scope>/name".
  std::string variable_name(const std::string& name) const {
    return variable_path_.empty() ? name : variable_path_ + "/" + name;
  }
  /// The value of a variable: that at the start of the program, or the one that was assigned last. Declares
  /// it as `variable_name(name)` on first use.
  Symbol variable(const std::string& name, const Shape& shape, Initialize initialize, bool trainable = true);
  /// The trainable variable W of a kernel. `flattened`: the shape of an input that a dense layer flattens.
  Symbol kernel(KernelKind kind, const Shape& shape, Initialize initialize, const Shape& flattened = {});
  /// As above, under a full name and any type and scope.
  Symbol variable(VariableSpec spec);
  /// Reads a variable (or a flat block) that exists under its full name, with this spec.
  Symbol read(const std::string& name, TensorSpec spec);
  /// The variable's value from here on, and after the program.
  void assign(const std::string& name, Symbol value) {
    graph_.assign(name, value);
    reads_[name] = value;
  }
  void fetch(const std::string& name, Symbol value) { graph_.fetch(name, value); }
  /// Declares the meaning of the values; returns the symbol. A reshape or transpose keeps the meaning;
  /// probabilities of classes keep it only if the last axis stays.
  Symbol declare(Symbol y, OutputMeaning meaning) {
    if (meaning != OutputMeaning()) meanings_[y] = meaning;
    return y;
  }
  OutputMeaning meaning(Symbol y) const {
    const auto found = meanings_.find(y);
    return found == meanings_.end() ? OutputMeaning() : found->second;
  }

  Symbol constant(double value) { return constant(value, Shape{}); }
  Symbol constant(double value, const Shape& shape);
  Symbol constant(const Tensor& value);

  /// An operand of a pointwise function: a symbol or a number.
  struct Operand {
    /// Errors: InternalError for a symbol of no node.
    Operand(Symbol s) : symbol(s) {  // NOLINT(google-explicit-constructor)
      TPACK_ASSERT(s.node != nullptr, "an operand that is not an output of a node");
    }
    Operand(double v) : value(v) {}  // NOLINT(google-explicit-constructor)
    Symbol symbol = {};
    double value = 0;
  };
  /// The result is an integer, int32 or int64, if all operands are integers, at least one of them int32 or
  /// int64, and the function returns integers for integers. Comparisons return bool. Other results have the
  /// graph's float type.
  Symbol apply(pointwise::Fn fn, std::initializer_list<Operand> operands);
  /// A method for each function of functions.def, with as many operands as it has: add(x, 1.0),
  /// exp(x).
#define TPACK_FUNCTION(enumerator, name, arity, ...)                                  \
  template <std::convertible_to<Operand>... Operands>                                 \
  Symbol name(const Operands&... operands) requires(sizeof...(Operands) == (arity)) { \
    return apply(pointwise::Fn::enumerator, {operands...});                           \
  }
#include "core/functions.def"
  Symbol square(const Operand& x) { return mul(x, x); }
  /// The same values as another type; floats become integers by truncation.
  Symbol cast(Symbol x, DType type);
  /// In the graph's float type.
  Symbol to_float(Symbol x) { return cast(x, float_type()); }

  /// Sums (or maxima) over axes; all axes if none is named. `keep` leaves axes of size 1.
  enum class Keep : uint8_t { kNo, kYes };
  Symbol reduce_sum(Symbol x, std::vector<int> axes = {}, Keep keep = Keep::kNo);
  Symbol reduce_max(Symbol x, std::vector<int> axes = {}, Keep keep = Keep::kNo);
  Symbol reduce_mean(Symbol x, std::vector<int> axes = {}, Keep keep = Keep::kNo);
  /// Sums over the axes that `shape` was broadcast along: the gradient of a broadcast.
  Symbol sum_to(Symbol x, const Shape& shape);
  Symbol broadcast_to(Symbol x, const Shape& shape);
  /// One size may be Shape::kUnknown: it is computed from the others.
  Symbol reshape(Symbol x, const Shape& shape);
  /// Output axis i is input axis order[i].
  Symbol transpose(Symbol x, std::vector<int> order);
  /// The same value; no gradient flows back.
  Symbol stop_gradient(Symbol x);

 private:
  friend class NameScope;
  DType type_of(pointwise::Expression expression, std::span<const Symbol> inputs) const;
  Symbol declare_moved(Symbol y, Symbol x, bool keeps_last_axis);
  std::string node_path(const char* type);
  Symbol add_input(const std::string& name, const TensorSpec& spec, bool image);

  Graph& graph_;
  VariableTable& variables_;
  Options options_;
  std::string path_;
  std::string variable_path_;  // differs from `path_` inside VariablesBelow
  Position origin_;
  std::map<std::string, int> path_count_;
  std::map<std::string, Symbol> reads_;  // by variable: its value now
  std::map<std::string, Symbol> inputs_;
  std::map<Symbol, OutputMeaning> meanings_;  // of those that say it
};

}  // namespace tpack
