#include "backend/passes/fused_ops.h"

#include "backend/passes/patterns.h"

namespace tpack {
namespace {

using pointwise::Expression;
using pointwise::Fn;
using pointwise::Instruction;

/// `after` with input `at` computed by `first`. Inputs: those of `first`, then the others of `after`.
Expression composed(const Expression& first, const Expression& after, int at) {
  Expression both = first;
  std::vector<int> renamed;  // by register of `after`
  for (Instruction instruction : after.code) {
    if (instruction.fn == Fn::kInput && instruction.args[0] == at) {
      renamed.push_back(first.results[0]);
      continue;
    }
    if (instruction.fn == Fn::kInput) {
      instruction.args[0] += first.inputs - (instruction.args[0] > at ? 1 : 0);
    } else {
      for (int& argument : instruction.args)
        argument = argument < 0 ? argument : renamed[static_cast<size_t>(argument)];
    }
    renamed.push_back(static_cast<int>(both.code.size()));
    both.code.push_back(instruction);
  }
  both.inputs += after.inputs - 1;
  both.results = {renamed[static_cast<size_t>(after.results[0])]};
  both.types = after.types;
  return both;
}

}  // namespace

std::shared_ptr<const Fused> with_epilogue(const Node& product, const Expression& after, int at) {
  if (const auto* fused = op_cast<Fused>(product))
    return std::make_shared<const Fused>(fused->product(), composed(fused->epilogue(), after, at));
  return std::make_shared<const Fused>(product.op, composed(cast_to(product.outputs[0].dtype), after, at));
}

std::vector<TensorSpec> Fused::infer(std::span<const TensorSpec> in) const {
  const auto more = static_cast<size_t>(epilogue_.inputs) - 1;
  return {{epilogue_.types[0], product_->infer(in.first(in.size() - more))[0].shape}};
}

std::string Sweep::key() const {
  std::string text = "Sweep{" + shape_.str() + ", " + expression_.str();
  for (const SweepReduction& r : reductions_) {
    text += std::string("; ") + EnumNames<Reduction>::kNames[static_cast<size_t>(r.kind)].first + " r" +
            std::to_string(r.value) + " over";
    for (const int axis : r.axes) text += " " + std::to_string(axis);
  }
  return text + "}";
}

std::vector<TensorSpec> Sweep::infer(std::span<const TensorSpec> /*in*/) const {
  std::vector<TensorSpec> out;
  for (const DType type : expression_.types) out.push_back({type, shape_});
  for (const SweepReduction& reduction : reductions_) {
    Shape shape = shape_;
    for (const int axis : reduction.axes) shape = shape.with(axis, 1);
    out.push_back({float_type_, shape});
  }
  return out;
}

}  // namespace tpack
