#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "graph/op.h"

namespace tpack {

/// Two ops, where only the second reads what the first computes. Both run on a few images at a time, so the
/// values in between never leave the cache and are never stored as a whole. Inputs: the first op's, then the
/// second's without input `between`. Outputs: the second's.
class DepthFirst final : public Op {
 public:
  static constexpr const char* kType = "DepthFirst";
  DepthFirst(std::shared_ptr<const Op> first, size_t first_inputs, std::shared_ptr<const Op> second,
             size_t between)
      : first_(std::move(first)),
        second_(std::move(second)),
        first_inputs_(first_inputs),
        between_(between) {}

  const std::shared_ptr<const Op>& first() const { return first_; }
  const std::shared_ptr<const Op>& second() const { return second_; }
  size_t first_inputs() const { return first_inputs_; }
  size_t between() const { return between_; }
  /// Whether an input has a part for each image; weights and biases do not.
  bool per_image(size_t input) const;
  /// Whether the output is a sum over the images; otherwise it has a part for each image.
  bool sums() const { return second_->images().outputs.empty(); }

  const char* type() const override { return kType; }
  std::string key() const override;
  std::vector<TensorSpec> infer(std::span<const TensorSpec> in) const override;
  ImageOperands images() const override;
  const ConvolutionParams* window() const override;
  double flops(const Node& n) const override;

 private:
  std::shared_ptr<const Op> first_;
  std::shared_ptr<const Op> second_;
  size_t first_inputs_;
  size_t between_;
};

/// Both ops of a DepthFirst as nodes of their own graph, for inputs of these specs.
struct DepthFirstNodes {
  Graph graph;
  const Node* first = nullptr;
  const Node* second = nullptr;
};
DepthFirstNodes nodes_of(const DepthFirst& op, std::span<const TensorSpec> inputs);

}  // namespace tpack
