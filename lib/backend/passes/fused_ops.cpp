#include "backend/passes/fused_ops.h"

namespace tpack {
namespace {

const char* name_of(Activation activation) {
  return EnumNames<Activation>::kNames[static_cast<size_t>(activation)].first;
}

}  // namespace

std::string FusedConvolution::key() const {
  return "FusedConvolution{" + Convolution(params_.window).key() + ", " + name_of(params_.activation) + "}";
}
std::vector<TensorSpec> FusedConvolution::infer(std::span<const TensorSpec> in) const {
  return Convolution(params_.window).infer(in.first(2));
}
double FusedConvolution::flops(const Node& n) const { return Convolution(params_.window).flops(n); }

std::string FusedMatMul::key() const {
  return "FusedMatMul{" + MatMul(params_.product).key() + ", " + name_of(params_.activation) + "}";
}
std::vector<TensorSpec> FusedMatMul::infer(std::span<const TensorSpec> in) const {
  return MatMul(params_.product).infer(in.first(2));
}
double FusedMatMul::flops(const Node& n) const { return MatMul(params_.product).flops(n); }

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
