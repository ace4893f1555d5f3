#include "optim/optimizer.h"

namespace tpack {

Symbol OptimizerState::slot(const std::string& name) {
  const TensorSpec flat{b_.float_type(), Shape{size_}};
  return b_.variable({FlatBlock{name, group_}.name(), flat, VariableScope::kOptimizer, false, nullptr});
}

void OptimizerState::assign_slot(const std::string& name, Symbol value) {
  b_.assign(FlatBlock{name, group_}.name(), value);
}

Symbol OptimizerState::number(const std::string& name) {
  return b_.variable(
      {full_name(name), {b_.float_type(), Shape{}}, VariableScope::kOptimizer, false, nullptr});
}

void OptimizerState::assign_number(const std::string& name, Symbol value) {
  b_.assign(full_name(name), value);
}

Symbol OptimizerState::hyper_parameter(const std::string& name, double initial) {
  const Initialize fill = [initial](const Tensor& value, Rng& /*rng*/) {
    visit(value.dtype(),
          [&](auto zero) { *value.data<decltype(zero)>() = static_cast<decltype(zero)>(initial); });
  };
  const TensorSpec scalar{b_.float_type(), Shape{}};
  return b_.variable({full_name(name), scalar, VariableScope::kOptimizer, false, fill, true});
}

void Optimizer::build(Builder& b, const ParameterGroup& group, double scale) const {
  const FlatLayout layout = flat_layout(b.variables(), group);
  const std::string parameters_name = FlatBlock{kParameters, group.name}.name();
  const TensorSpec flat{b.float_type(), Shape{layout.size}};
  const Symbol parameters = b.read(parameters_name, flat);
  Symbol gradient = b.mul(b.read(FlatBlock{kGradient, group.name}.name(), flat), scale);
  for (const Part<GradientProcessor>& processor : common_.gradient)
    gradient = processor->process(b, gradient, layout);
  OptimizerState state(b, group.name, layout.size);
  const Symbol rate = state.hyper_parameter(kLearningRate, common_.learning_rate);
  b.assign(parameters_name, apply(b, state, parameters, gradient, rate));
}

}  // namespace tpack
