#include "optim/trust_ratio.h"

#include <algorithm>

#include "graph/variable_pattern.h"
#include "optim/per_variable.h"

namespace tpack {

void TrustRatio::check(const FlatLayout& layout) const { check_patterns_of(layout, exclude_, "'exclude'"); }

bool TrustRatio::adapts(const FlatLayout::Entry& variable) const {
  return (adapt_vectors_ || variable.shape.rank() > 1) && !is_for_variable(exclude_, variable.name);
}

Symbol TrustRatio::with_decay(Builder& b, const FlatLayout& layout, Symbol parameters, Symbol step) const {
  if (weight_decay_ == 0) return step;
  const auto decay_of = [this](const FlatLayout::Entry& variable) {
    return adapts(variable) ? weight_decay_ : 0;
  };
  const bool all = std::all_of(layout.entries.begin(), layout.entries.end(),
                               [this](const FlatLayout::Entry& variable) { return adapts(variable); });
  const Symbol decay = all ? b.constant(weight_decay_) : constants_of_elements(b, layout, decay_of);
  return b.add(step, b.mul(parameters, decay));
}

Symbol TrustRatio::of_variables(Builder& b, const FlatLayout& layout, Symbol parameter_norms,
                                Symbol step_norms, double scale) const {
  const Symbol adapted = constants_of_variables(
      b, layout, [this](const FlatLayout::Entry& variable) { return adapts(variable) ? 1 : 0; });
  const Symbol least = b.min(b.mul(parameter_norms, adapted), step_norms);
  const Symbol is_used = b.greater(least, 0.0);
  const Symbol divisor = b.select(is_used, step_norms, 1.0);
  return b.select(is_used, b.div(b.mul(parameter_norms, scale), divisor), 1.0);
}

}  // namespace tpack
