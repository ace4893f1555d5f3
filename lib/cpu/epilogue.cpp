#include "cpu/epilogue.h"

#include "backend/passes/fused_ops.h"
#include "ops/convolution.h"

namespace tpack::cpu {
namespace {

using pointwise::Fn;
using pointwise::Instruction;

/// Takes the last call off an expression that ends in register `value`, if it calls `fn` with an operand for
/// which `is_other` holds; then `value` is the other operand.
template <class F>
bool take_call(const pointwise::Expression& e, int& value, Fn fn, const F& is_other) {
  const Instruction& last = e.code[static_cast<size_t>(value)];
  if (last.fn != fn) return false;
  for (const size_t i : {0U, 1U}) {
    if (!is_other(e.code[static_cast<size_t>(last.args[1 - i])])) continue;
    value = last.args[i];
    return true;
  }
  return false;
}

bool is_input(const Instruction& instruction, int number) {
  return instruction.fn == Fn::kInput && instruction.args[0] == number;
}

}  // namespace

std::optional<Epilogue> epilogue_of(const Op& op, std::span<const Symbol> inputs) {
  const auto* fused = dynamic_cast<const Fused*>(&op);
  if (fused == nullptr) return Epilogue{};
  const pointwise::Expression& e = fused->epilogue();
  const bool is_rounded = e.types[0] != DType::kFloat32;
  if (is_rounded && inputs[0].dtype() != e.types[0]) return std::nullopt;
  int value = e.results[0];
  Epilogue found;
  found.relu = take_call(e, value, Fn::kMax,
                         [](const Instruction& i) { return i.fn == Fn::kConstant && i.value == 0; });
  found.bias = take_call(e, value, Fn::kAdd, [](const Instruction& i) { return is_input(i, 1); });
  if (!is_input(e.code[static_cast<size_t>(value)], 0)) return std::nullopt;
  if (!found.bias) return is_rounded && !found.relu && e.inputs == 1 ? std::optional(found) : std::nullopt;
  const bool is_gradient = dynamic_cast<const ConvolutionBackwardData*>(fused->product().get()) != nullptr;
  if (e.inputs != 2 || is_gradient) return std::nullopt;
  const Shape result = op.infer(specs_of(inputs))[0].shape;
  if (result.rank() != (op.window() != nullptr ? 4 : 2)) return std::nullopt;
  const Shape lined_up = result.rank() == 4 ? Shape{result[1], 1, 1} : Shape{result[1]};
  return inputs[2].spec() == TensorSpec{DType::kFloat32, lined_up} ? std::optional(found) : std::nullopt;
}

}  // namespace tpack::cpu
