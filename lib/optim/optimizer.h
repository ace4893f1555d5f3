#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/registry.h"
#include "core/schedule.h"
#include "graph/builder.h"
#include "optim/lookahead.h"
#include "optim/variable_factors.h"

namespace tpack {

/// The state of an optimizer for one group of variables. Slots are flat blocks in the layout of the group's
/// parameters; numbers are scalars. All are zero at first.
class OptimizerState {
 public:
  OptimizerState(Builder& b, std::string group, FlatLayout layout)
      : b_(b), group_(std::move(group)), layout_(std::move(layout)) {}

  /// The position of each variable in the blocks.
  const FlatLayout& layout() const { return layout_; }

  /// The slot with this name ("m"), shape [n].
  Symbol slot(const std::string& name);
  void assign_slot(const std::string& name, Symbol value);
  /// The number with this name; in a named group "GROUP/NAME".
  Symbol number(const std::string& name);
  void assign_number(const std::string& name, Symbol value);
  /// The number of updates before this one, kept in the number "updates"; exact up to 2^24 in float.
  Symbol updates();
  /// A number that its schedule or callbacks may set between steps.
  Symbol hyper_parameter(const std::string& name, const Scheduled& value);

 private:
  std::string full_name(const std::string& name) const { return group_.empty() ? name : group_ + "/" + name; }

  Builder& b_;
  std::string group_;
  FlatLayout layout_;
  std::optional<Symbol> updates_ = {};  // if something asked
};

/// Changes the gradient before an optimizer uses it.
class GradientProcessor {
 public:
  static constexpr const char* kKind = "gradient processor";
  virtual ~GradientProcessor() = default;
  /// `gradient`: the flat block [n] of all gradients, laid out as the state says; padding is zero and must
  /// stay zero.
  virtual Symbol process(Builder& b, OptimizerState& state, Symbol gradient) const = 0;
};

/// A number or a schedule; or {base: 0.1, per: 256}: `base`, a number or a schedule, for `per` samples per
/// step, and in proportion for other numbers. Source: Goyal et al. 2017, the linear scaling rule.
struct LearningRate {
  Scheduled base = 0.01;
  std::optional<double> per = {};

  LearningRate() = default;
  LearningRate(double rate) : base(rate) {}  // NOLINT(google-explicit-constructor): a number is one
  /// The value for steps with this number of samples on all replicas together.
  Scheduled of(double samples) const;
};

template <>
struct Codec<LearningRate> {
  static FieldType type();
  static std::optional<LearningRate> parse(const ConfigNode& node, Reader& reader);
  static ConfigNode dump(const LearningRate& rate);
};

/// The parameters of every optimizer.
struct OptimizerParams {
  OptimizerParams() = default;
  OptimizerParams(double rate) : learning_rate(rate) {}  // NOLINT(google-explicit-constructor): as a config
  LearningRate learning_rate;
  VariableFactors learning_rate_multipliers;
  std::vector<Part<GradientProcessor>> gradient;
  std::optional<double> clip_variables;
  std::optional<Lookahead> lookahead;
};

/// The update rule: emits the program that updates the flat block of a group's parameters. Pointwise ops on
/// flat blocks become one fused kernel over all variables. Threads: const.
class Optimizer {
 public:
  static constexpr const char* kKind = "optimizer";
  virtual ~Optimizer() = default;

  /// Emits the whole update of a group: gradient processors, `apply`, the limits of variables, then the slow
  /// weights, which are within the limits, too. `scale`
  /// is multiplied into the gradient first (one over the number of summed replicas); `samples`: number in a
  /// step, on all replicas together.
  void build(Builder& b, const ParameterGroup& group, double scale, double samples = 1) const;

  /// The factor of the learning rate for a variable.
  double learning_rate_multiplier(const std::string& variable) const {
    return common_.learning_rate_multipliers.of(variable);
  }

 protected:
  explicit Optimizer(OptimizerParams common) : common_(std::move(common)) {}
  /// New parameters [n] from old ones; it also reads and assigns slots and numbers. `learning_rate` is one
  /// number, or one for each parameter [n].
  virtual Symbol apply(Builder& b, OptimizerState& state, Symbol parameters, Symbol gradient,
                       Symbol learning_rate) const = 0;

 private:
  OptimizerParams common_;
};

/// Name of the common hyper-parameter of all optimizers.
inline constexpr const char* kLearningRate = "learning_rate";

/// The fields of OptimizerParams, for the schema of an optimizer whose Params derive from it.
template <class P>
Schema<P> optimizer_schema(std::string summary) {
  return Schema<P>(std::move(summary))
      .field("learning_rate", static_cast<LearningRate P::*>(&P::learning_rate),
             "step size: a number or a schedule; {base: 0.1, per: 256} is 0.1 for 256 samples per step (all "
             "towers and ranks together) and scales in proportion")
      .shorthand()
      .field("learning_rate_multipliers", static_cast<VariableFactors P::*>(&P::learning_rate_multipliers),
             "factors of the learning rate by variable: a name with everything below it, or a regular "
             "expression for whole names; the first match counts")
      .field("gradient", static_cast<std::vector<Part<GradientProcessor>> P::*>(&P::gradient),
             "gradient processors that run before the update, in order")
      .field("clip_variables", static_cast<std::optional<double> P::*>(&P::clip_variables), above(0),
             "largest absolute value of the variables after each update; larger ones are clipped, as in a "
             "Wasserstein GAN")
      .field("lookahead", static_cast<std::optional<Lookahead> P::*>(&P::lookahead),
             "after every `steps` updates, the variables become slow weights, which begin as the initial "
             "variables and then move by the share `alpha` towards those of the optimizer (Zhang et al. "
             "2019); between these steps, validation and savers see the variables of the optimizer");
}

/// An optimizer from parameters in C++. Errors: ConfigError for values that its schema does not allow.
template <class Class>
std::unique_ptr<Optimizer> make_checked(const typename Class::Params& params) {
  typename Class::Params numbers = params;
  numbers.gradient.clear();  // objects have checked their own parameters
  if (numbers.learning_rate.base.schedule) numbers.learning_rate = {};
  const auto schema = Class::schema();
  schema.parse(schema.dump(numbers), "the optimizer");
  return std::make_unique<Class>(params);
}

}  // namespace tpack
