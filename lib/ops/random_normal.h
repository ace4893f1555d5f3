#pragma once

#include "graph/builder.h"

namespace tpack {

struct RandomNormalParams {
  Shape shape;
  DType dtype = DType::kFloat32;
};

/// Normal numbers with mean 0 and standard deviation 1, different in each step, with the keys of
/// RandomUniform. Shapes: () -> shape.
class RandomNormal final : public OpOf<RandomNormal, RandomNormalParams> {
 public:
  static constexpr const char* kType = "RandomNormal";
  static Schema<RandomNormalParams> schema();
  using OpOf::OpOf;
  std::vector<TensorSpec> infer(std::span<const TensorSpec> in) const override;
  bool stateful() const override { return true; }
};

/// Element `index` of the draw, as every backend computes it.
float normal_element(uint64_t key, uint64_t index);

}  // namespace tpack
