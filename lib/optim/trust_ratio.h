#pragma once

#include <utility>
#include <vector>

#include "optim/optimizers.h"

namespace tpack {

/// Adds the fields of TrustParams to the schema of an optimizer whose Params derive from it.
template <std::derived_from<TrustParams> P>
Schema<P> with_trust_fields(Schema<P> schema) {
  schema
      .field("weight_decay", static_cast<double P::*>(&P::weight_decay), at_least(0),
             "share of each parameter that is added to its step, before the trust ratio")
      .field("exclude", static_cast<std::vector<Ref<VariablePattern>> P::*>(&P::exclude),
             "variables without trust ratio and weight decay: names with everything below them, or regular "
             "expressions for whole names")
      .field("adapt_vectors", static_cast<bool P::*>(&P::adapt_vectors),
             "use trust ratio and weight decay for variables of one axis, too: biases, and parameters of "
             "normalization");
  return schema;
}

/// Which variables have a trust ratio, the ratio of the norm of a variable to that of its step, and the
/// weight decay, which belongs to the step.
class TrustRatio {
 public:
  explicit TrustRatio(const TrustParams& params)
      : weight_decay_(params.weight_decay), exclude_(params.exclude), adapt_vectors_(params.adapt_vectors) {}

  /// Errors: ConfigError for patterns of `exclude` without a variable.
  void check(const FlatLayout& layout) const;

  /// step + weight_decay * p, [n], without decay where a variable has none.
  Symbol with_decay(Builder& b, const FlatLayout& layout, Symbol parameters, Symbol step) const;

  /// scale * |p| / step_norms for each variable [variables]; 1 where a variable has no trust ratio, and where
  /// one of the norms is 0.
  Symbol of_variables(Builder& b, const FlatLayout& layout, Symbol parameter_norms, Symbol step_norms,
                      double scale) const;

 private:
  bool adapts(const FlatLayout::Entry& variable) const;

  double weight_decay_;
  std::vector<Ref<VariablePattern>> exclude_;
  bool adapt_vectors_;
};

}  // namespace tpack
