#include "optim/optimizer.h"

namespace tpack {
namespace {

Symbol hyper_parameter(Builder& b, const std::string& name, double initial) {
  const Initialize fill = [initial](const Tensor& value, Rng& /*rng*/) {
    visit(value.dtype(),
          [&](auto zero) { *value.data<decltype(zero)>() = static_cast<decltype(zero)>(initial); });
  };
  return b.variable({name, {b.float_type(), Shape{}}, VariableScope::kOptimizer, false, fill, true});
}

}  // namespace

void Optimizer::build(Builder& b, const FlatLayout& layout, double scale) const {
  const TensorSpec flat{b.float_type(), Shape{layout.size}};
  const Symbol parameters = b.read(kFlatParameters, flat);
  Symbol gradient = b.mul(b.read(kFlatGradient, flat), scale);
  for (const Part<GradientProcessor>& processor : common_.gradient)
    gradient = processor->process(b, gradient, layout);
  const Symbol rate = hyper_parameter(b, kLearningRate, common_.learning_rate);
  b.assign(kFlatParameters, apply(b, parameters, gradient, rate));
}

Symbol Optimizer::slot(Builder& b, const std::string& name, const Shape& shape) {
  return b.variable({flat_slot(name), {b.float_type(), shape}, VariableScope::kOptimizer, false, nullptr});
}

Symbol Optimizer::number(Builder& b, const std::string& name) {
  return b.variable({name, {b.float_type(), Shape{}}, VariableScope::kOptimizer, false, nullptr});
}

}  // namespace tpack
