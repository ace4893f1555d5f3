#include "graph/passes/gradient.h"

#include <map>
#include <set>

#include "graph/op.h"

namespace tpack {
namespace {

/// By node id: true where a path leads from one of `wrt` to the node.
std::vector<bool> downstream(const Graph& graph, std::span<const Symbol> wrt) {
  const std::set<Symbol> targets(wrt.begin(), wrt.end());
  std::vector<bool> leads(graph.size());
  for (const auto& node : graph.nodes()) {
    for (const Symbol& input : node->inputs) {
      if (targets.contains(input) || leads[static_cast<size_t>(input.node->id)])
        leads[static_cast<size_t>(node->id)] = true;
    }
  }
  return leads;
}

class Backward {
 public:
  Backward(Builder& b, std::span<const Symbol> wrt)
      : b_(b), wrt_(wrt), on_path_(downstream(b.graph(), wrt)) {}

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
    const Builder::Scope naming(b_, scope, node.origin);
    const std::vector<Symbol> dx =
        node.op->has_gradient() ? node.op->gradient(b_, node, dy) : through_parts(node, dy);
    for (size_t i = 0; i < dx.size(); ++i) add(node.inputs[i], dx[i]);
  }

  std::vector<Symbol> through_parts(const Node& node, const std::vector<Symbol>& dy) {
    const std::vector<Symbol> parts = node.op->decompose(b_, node);
    TPACK_ASSERT(!parts.empty(), "op " + node.op->key() + " has no gradient");
    std::vector<Symbol> outputs;
    std::vector<Symbol> seeds;
    for (size_t i = 0; i < dy.size(); ++i) {
      if (!dy[i]) continue;
      outputs.push_back(parts[i]);
      seeds.push_back(dy[i]);
    }
    return vector_jacobian(b_, outputs, seeds, node.inputs);
  }

  Builder& b_;
  std::span<const Symbol> wrt_;
  std::vector<bool> on_path_;  // by node id, of the nodes that were there at the start
  std::map<Symbol, Symbol> sums_;
};

}  // namespace

std::vector<Symbol> vector_jacobian(Builder& b, std::span<const Symbol> outputs,
                                    std::span<const Symbol> seeds, std::span<const Symbol> wrt) {
  Backward backward(b, wrt);
  for (size_t i = 0; i < outputs.size(); ++i) backward.add(outputs[i], seeds[i]);
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
