#include "backend/passes/depth_first.h"

#include <algorithm>

#include "backend/passes/fused_ops.h"
#include "backend/passes/passes.h"
#include "backend/passes/patterns.h"
#include "graph/passes/rewrite.h"
#include "graph/structural.h"
#include "ops/pooling.h"

namespace tpack {
namespace {

/// Whether `second` can take its input `i` from `first` a few images at a time.
bool joins(const Node& first, const Node& second, size_t i) {
  if (op_cast<MaxPool>(second) != nullptr)
    return op_cast<Fused>(first) != nullptr && first.op->window() != nullptr;
  if (second.op->window() != nullptr && second.op->images().outputs.empty())  // the gradient of weights
    return i == 1 && op_cast<MaxPoolScatter>(first) != nullptr;               // its dy
  return false;
}

}  // namespace

bool DepthFirst::per_image(size_t input) const {
  const std::vector<int> images = this->images().inputs;
  return std::find(images.begin(), images.end(), static_cast<int>(input)) != images.end();
}

const ConvolutionParams* DepthFirst::window() const {
  return first_->window() != nullptr ? first_->window() : second_->window();
}

std::string DepthFirst::key() const {
  return "DepthFirst{" + first_->key() + ", " + second_->key() + " " + std::to_string(between_) + "}";
}

std::vector<TensorSpec> DepthFirst::infer(std::span<const TensorSpec> in) const {
  const DepthFirstNodes nodes = nodes_of(*this, in);
  return nodes.second->outputs;
}

ImageOperands DepthFirst::images() const {
  const ImageOperands of_first = first_->images();
  const ImageOperands of_second = second_->images();
  ImageOperands all{.inputs = of_first.inputs, .outputs = of_second.outputs};
  for (const int input : of_second.inputs) {
    const auto i = static_cast<size_t>(input);
    if (i != between_) all.inputs.push_back(static_cast<int>(first_inputs_ + i - (i > between_ ? 1 : 0)));
  }
  return all;
}

double DepthFirst::flops(const Node& n) const {
  std::vector<TensorSpec> specs;
  for (const Symbol& input : n.inputs) specs.push_back(input.spec());
  const DepthFirstNodes nodes = nodes_of(*this, specs);
  return first_->flops(*nodes.first) + second_->flops(*nodes.second);
}

DepthFirstNodes nodes_of(const DepthFirst& op, std::span<const TensorSpec> inputs) {
  DepthFirstNodes nodes;
  std::vector<Symbol> symbols;
  for (const TensorSpec& spec : inputs) {
    const auto input = std::make_shared<const Input>(
        InputParams{"input" + std::to_string(symbols.size()), spec.dtype, spec.shape});
    symbols.push_back(nodes.graph.add(input, {}, "input", {}).out());
  }
  const auto middle = symbols.begin() + static_cast<std::ptrdiff_t>(op.first_inputs());
  nodes.first = &nodes.graph.add(op.first(), {symbols.begin(), middle}, "first", {});
  std::vector<Symbol> rest(middle, symbols.end());
  rest.insert(rest.begin() + static_cast<std::ptrdiff_t>(op.between()), nodes.first->out());
  nodes.second = &nodes.graph.add(op.second(), rest, "second", {});
  return nodes;
}

Graph join_depth_first(const Graph& graph, int64_t least_bytes) {
  const std::vector<int> uses = use_counts(graph);
  return rewrite(graph,
                 [&](Graph& out, const Node& node,
                     std::span<const Symbol> inputs) -> std::optional<std::vector<Symbol>> {
                   for (size_t i = 0; i < inputs.size(); ++i) {
                     const Node& first = *inputs[i].node;
                     const bool alone = uses[static_cast<size_t>(node.inputs[i].node->id)] == 1;
                     if (!alone || !joins(first, node, i) || inputs[i].spec().bytes() < least_bytes) continue;
                     std::vector<Symbol> all = first.inputs;
                     for (size_t k = 0; k < inputs.size(); ++k) {
                       if (k != i) all.push_back(inputs[k]);
                     }
                     const auto joined =
                         std::make_shared<const DepthFirst>(first.op, first.inputs.size(), node.op, i);
                     const Node& made = out.add(joined, all, node.path, node.origin);
                     return outputs_of(made);
                   }
                   return std::nullopt;
                 });
}

}  // namespace tpack
