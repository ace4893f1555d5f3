#include "graph/passes/gradient.h"

#include <map>
#include <set>

#include "graph/op.h"

namespace tpack {
namespace {

/// By node id: true if a path of nodes from number `first` on leads from one of `wrt` to the node.
std::vector<bool> downstream(const Graph& graph, std::span<const Symbol> wrt, size_t first) {
  const std::set<Symbol> targets(wrt.begin(), wrt.end());
  std::vector<bool> leads(graph.size());
  for (size_t id = first; id < graph.size(); ++id) {
    for (const Symbol& input : graph.node(id).inputs) {
      if (targets.contains(input) || leads[static_cast<size_t>(input.node->id)]) leads[id] = true;
    }
  }
  return leads;
}

class Backward {
 public:
  /// Only nodes from number `first` on are gone through; what they take from before counts as given.
  Backward(Builder& b, std::span<const Symbol> wrt, size_t first)
      : b_(b), wrt_(wrt), on_path_(downstream(b.graph(), wrt, first)) {}

  void add(Symbol value, Symbol gradient) {
    if (!gradient) return;
    Symbol& sum = sums_[value];
    sum = sum ? b_.add(sum, gradient) : gradient;
  }

  std::vector<Symbol> run() {
    for (size_t id = on_path_.size(); id-- > 0;) {
      if (on_path_[id]) pass_through(b_.graph().node(id));
    }
    std::vector<Symbol> result;
    for (const Symbol& symbol : wrt_) result.push_back(sum_of(symbol));
    return result;
  }

 private:
  Symbol sum_of(Symbol value) const {
    const auto found = sums_.find(value);
    return found == sums_.end() ? Symbol{} : found->second;
  }

  void pass_through(const Node& node) {
    std::vector<Symbol> dy;
    bool any = false;
    for (int i = 0; i < static_cast<int>(node.outputs.size()); ++i) {
      dy.push_back(sum_of(node.out(i)));
      any = any || dy.back();
    }
    if (!any) return;
    // Gradient nodes belong to the layer whose forward node they are for.
    const std::string scope = "gradient/" + node.path.substr(0, node.path.rfind('/'));
    const Builder::NameScope naming(b_, scope, node.origin);
    const std::vector<Symbol> dx =
        node.op->has_gradient() ? node.op->gradient(b_, node, dy) : gradient_through_parts(b_, node, dy);
    for (size_t i = 0; i < dx.size(); ++i) add(node.inputs[i], dx[i]);
  }

  Builder& b_;
  std::span<const Symbol> wrt_;
  std::vector<bool> on_path_;  // by node id, of the nodes that were there at the start
  std::map<Symbol, Symbol> sums_;
};

}  // namespace

std::vector<Symbol> vector_jacobian(Builder& b, std::span<const Symbol> outputs,
                                    std::span<const Symbol> seeds, std::span<const Symbol> wrt) {
  Backward backward(b, wrt, 0);
  for (size_t i = 0; i < outputs.size(); ++i) backward.add(outputs[i], seeds[i]);
  return backward.run();
}

std::vector<Symbol> gradient_through_parts(Builder& b, const Node& node, std::span<const Symbol> dy) {
  const size_t first = b.graph().size();
  const std::vector<Symbol> parts = node.op->decompose(b, node);
  TPACK_ASSERT(!parts.empty(), "op " + node.op->key() + " has no gradient");
  Backward backward(b, node.inputs, first);
  for (size_t i = 0; i < dy.size(); ++i) {
    if (dy[i]) backward.add(parts[i], dy[i]);
  }
  return backward.run();
}

std::vector<Symbol> gradients(Builder& b, Symbol cost, std::span<const Symbol> wrt) {
  if (cost.shape().elements() != 1) {
    throw ShapeError(cost.node->origin,
                     "a cost must be one number, not " + cost.spec().str() + "; take its mean");
  }
  const std::vector<Symbol> seeds = {b.constant(1, cost.shape())};
  return vector_jacobian(b, std::vector<Symbol>{cost}, seeds, wrt);
}

}  // namespace tpack
