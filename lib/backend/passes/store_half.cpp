#include <algorithm>
#include <map>
#include <set>

#include "backend/engine/kernel.h"
#include "backend/passes/fused_ops.h"
#include "backend/passes/passes.h"
#include "backend/passes/patterns.h"
#include "graph/images.h"
#include "graph/passes/rewrite.h"

namespace tpack {
namespace {

using pointwise::Expression;

/// Values that are fetched or assigned, and those that reach an assigned one element by element: of the
/// gradient of a weight, the optimizer's step; of a product, only its result.
class FloatValues {
 public:
  explicit FloatValues(const Graph& graph) {
    for (const Assignment& assignment : graph.assignments()) add(assignment.value, true);
    for (const Fetch& fetch : graph.fetches()) add(fetch.value, false);
  }
  bool contains(const Symbol& value) const { return all_.contains(value); }

 private:
  void add(const Symbol& root, bool through_sweeps) {
    std::vector<Symbol> open = {root};
    while (!open.empty()) {
      const Symbol value = open.back();
      open.pop_back();
      const Node& node = *value.node;
      const auto* sweep = op_cast<Sweep>(node);
      const bool ends = node.op->is_product() || (sweep != nullptr && !through_sweeps);
      if (!all_.insert(value).second || ends) continue;
      const bool is_reduced =
          sweep != nullptr && static_cast<size_t>(value.output) >= sweep->expression().results.size();
      for (const Symbol& input : node.inputs) {
        const bool is_whole = sweep == nullptr || input.shape().elements() == sweep->shape().elements();
        if (is_whole && !is_reduced) open.push_back(input);
      }
    }
  }

  std::set<Symbol> all_;
};

class HalfStorage {
 public:
  HalfStorage(const Graph& graph, const KernelLibrary& library)
      : library_(library), type_(library.stored_type()), images_(graph), floats_(graph) {
    for (const auto& node : graph.nodes()) {
      if (node->op->is_product()) factors_.insert(node->inputs.begin(), node->inputs.begin() + 2);
      if (library.takes_stored(*node)) taken_.insert(node->inputs.begin(), node->inputs.end());
    }
  }

  Replacement rewritten(Graph& out, const Node& node, std::span<const Symbol> inputs) {
    const bool has_half = std::ranges::any_of(inputs, [&](const Symbol& s) { return s.dtype() == type_; });
    if (node.op->is_product() && inputs[0].dtype() != DType::kFloat64) {
      if (library_.takes_stored(node)) return product(out, node, inputs);
    } else if (const auto* sweep = op_cast<Sweep>(node)) {
      return swept(out, node, *sweep, inputs);
    } else if (has_half && library_.takes_stored(node)) {
      return recast(out, node, inputs, DType::kFloat32, type_);  // its result has the type of its inputs
    }
    return has_half ? recast(out, node, inputs, type_, DType::kFloat32) : std::nullopt;
  }

 private:
  bool may_store(const Symbol& value) const {
    const bool is_candidate = images_.contains(value) || factors_.contains(value);
    return is_candidate && taken_.contains(value) && value.dtype() == DType::kFloat32 &&
           !floats_.contains(value);
  }

  /// Factors are taken in 16 bits. Weights of convolutions, and the second factor of a matrix product if the
  /// first one is rounded already, are rounded by the kernel, which packs them anyway.
  Replacement product(Graph& out, const Node& node, std::span<const Symbol> inputs) {
    std::vector<Symbol> operands(inputs.begin(), inputs.end());
    const std::vector<int> images = node.op->images().inputs;
    for (const int i : images)
      operands[static_cast<size_t>(i)] = cast(out, inputs[static_cast<size_t>(i)], type_);
    if (images.empty() && operands[0].dtype() != type_ && operands[1].dtype() != type_)
      operands[0] = cast(out, operands[0], type_);
    std::shared_ptr<const Op> op = node.op;
    if (may_store(node.out())) {
      const auto rounding = with_epilogue(node, cast_to(type_), 0);
      if (library_.fuses(*rounding, operands)) op = rounding;
    }
    return {{out.add(op, operands, node.path, node.origin).out()}};
  }

  Replacement swept(Graph& out, const Node& node, const Sweep& sweep, std::span<const Symbol> inputs) const {
    Expression expression = sweep.expression();
    for (size_t k = 0; k < expression.types.size(); ++k) {
      // The gradient of a maximum looks for the element that equals it, which must not be rounded afterwards.
      const bool has_maximum = std::ranges::any_of(sweep.reductions(), [&](const SweepReduction& r) {
        return r.kind == Reduction::kMax && r.value == expression.results[k];
      });
      if (!has_maximum && may_store(node.out(static_cast<int>(k)))) expression.types[k] = type_;
    }
    const auto op = std::make_shared<const Sweep>(std::move(expression), sweep.reductions(), sweep.shape(),
                                                  sweep.float_type());
    return outputs_of(out.add(op, {inputs.begin(), inputs.end()}, node.path, node.origin));
  }

  /// The op with its inputs of one type in another one.
  Replacement recast(Graph& out, const Node& node, std::span<const Symbol> inputs, DType from, DType to) {
    std::vector<Symbol> operands;
    for (const Symbol& input : inputs)
      operands.push_back(input.dtype() == from ? cast(out, input, to) : input);
    return outputs_of(out.add(node.op, operands, node.path, node.origin));
  }

  /// The value in a type: itself, or a copy, one for all.
  Symbol cast(Graph& out, Symbol x, DType type) {
    if (x.dtype() == type) return x;
    const auto [found, is_new] = copies_.try_emplace(std::pair(x, type));
    if (is_new) {
      const auto op = std::make_shared<const Sweep>(cast_to(type), std::vector<SweepReduction>{}, x.shape(),
                                                    DType::kFloat32);
      const std::string path = x.node->path + "_" + std::to_string(x.output) + "_" + name_of(type);
      found->second = out.add(op, {x}, path, x.node->origin).out();
    }
    return found->second;
  }

  const KernelLibrary& library_;
  DType type_;
  Images images_;
  FloatValues floats_;
  std::set<Symbol> factors_;
  std::set<Symbol> taken_;  // by a node that needs no copy of them in float32
  std::map<std::pair<Symbol, DType>, Symbol> copies_;
};

}  // namespace

Graph store_half(const Graph& graph, const KernelLibrary& library) {
  if (!is_half(library.stored_type())) return copy_of(graph);
  HalfStorage storage(graph, library);
  return rewrite(graph, [&](Graph& out, const Node& node, std::span<const Symbol> inputs) {
    return storage.rewritten(out, node, inputs);
  });
}

}  // namespace tpack
