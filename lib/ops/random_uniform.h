#pragma once

#include "graph/builder.h"

namespace tpack {

struct RandomUniformParams {
  Shape shape;
  DType dtype = DType::kFloat32;
};

/// Uniform numbers in [0, 1), different in each step: element i of a node depends only on seed, step, the
/// node's path, the replica and i, so any layout and any thread count draw the same numbers. Shapes: () ->
/// shape.
class RandomUniform final : public OpOf<RandomUniform, RandomUniformParams> {
 public:
  static constexpr const char* kType = "RandomUniform";
  static Schema<RandomUniformParams> schema();
  using OpOf::OpOf;
  std::vector<TensorSpec> infer(std::span<const TensorSpec> in) const override;
  bool stateful() const override { return true; }
};

Symbol random_uniform(Builder& b, const Shape& shape);

/// Element `index` of the draw: 24 bits of Philox, as every backend computes it. `key` mixes seed, step,
/// path, replica.
float uniform_element(uint64_t key, uint64_t index);

}  // namespace tpack
