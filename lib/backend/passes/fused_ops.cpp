#include "backend/passes/fused_ops.h"

namespace tpack {
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
