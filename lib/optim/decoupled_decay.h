#pragma once

#include <utility>
#include <vector>

#include "optim/optimizer.h"

namespace tpack {

/// Adds the two fields of a decoupled weight decay to the schema of an optimizer: `name` for the decay, and
/// `exclude`.
template <class P>
Schema<P> with_decay_fields(Schema<P> schema, const char* name, double P::*decay) {
  schema
      .field(name, decay, at_least(0),
             "share of each parameter that each step subtracts, times the learning rate")
      .field("exclude", &P::exclude,
             "variables that do not decay: names with everything below them, or regular expressions for "
             "whole names; [.*/b, .*/gamma, .*/beta] excludes biases and normalization parameters, as "
             "usual recipes do; default: all decay, as in PyTorch");
  return schema;
}

/// Weight decay that is not part of the gradient, so no mean or root of gradients sees it. Source: Loshchilov
/// and Hutter 2017; the learning rate scales the decay, as in PyTorch.
class DecoupledDecay {
 public:
  DecoupledDecay(double decay, const std::vector<Ref<VariablePattern>>& exclude);

  /// decay * p, [n], without the parameters that are excluded. Errors: ConfigError for patterns without a
  /// variable.
  Symbol of_parameters(Builder& b, const FlatLayout& layout, Symbol parameters) const;
  /// learning_rate * decay * p + step, [n]: what to subtract from the parameters. Errors: as above.
  Symbol added_to(Builder& b, const FlatLayout& layout, Symbol parameters, Symbol learning_rate,
                  Symbol step) const;

 private:
  /// Zero where a variable is excluded.
  Symbol without_excluded(Builder& b, const FlatLayout& layout, Symbol decay) const;

  double decay_;
  VariableFactors factors_;  // 0 for variables without decay
};

}  // namespace tpack
