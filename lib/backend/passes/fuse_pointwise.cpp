#include <algorithm>
#include <map>
#include <set>

#include "backend/passes/fused_ops.h"
#include "backend/passes/passes.h"

namespace tpack {
namespace {

using pointwise::Expression;
using pointwise::Fn;
using pointwise::Instruction;
using pointwise::Pointwise;

/// Groups of nodes that each become one sweep.
class Grouping {
 public:
  explicit Grouping(const Graph& graph) : graph_(graph), group_(graph.size(), -1), users_(graph.users()) {
    const std::vector<bool> needed = graph.needed();
    for (const auto& node : graph.nodes()) {
      const auto id = static_cast<size_t>(node->id);
      if (!needed[id] || !fusable(*node)) continue;
      group_[id] = node->id;
      members_[node->id] = {node->id};
    }
    join_along_edges();
    join_siblings();
  }

  /// By node id: the number of the node's group, -1 for nodes that stay alone.
  const std::vector<int>& group() const { return group_; }
  const std::map<int, std::vector<int>>& members() const { return members_; }

  /// The shape that a node runs over.
  static const Shape& space(const Node& node) {
    return op_cast<Reduce>(node) != nullptr ? node.inputs[0].shape() : node.outputs[0].shape;
  }

 private:
  static bool fusable(const Node& node) {
    if (const auto* op = op_cast<Pointwise>(node))
      return !op->expression().is_integral(specs_of(node.inputs));
    return op_cast<Reduce>(node) != nullptr && is_float(node.inputs[0].dtype());
  }

  void join_along_edges() {
    for (const auto& node : graph_.nodes()) {
      for (const Symbol& input : node->inputs) {
        if (op_cast<Pointwise>(*input.node) != nullptr) try_join(input.node->id, node->id);
      }
    }
  }

  /// Two sweeps that read the same large tensor become one: batch normalization's two sums.
  void join_siblings() {
    for (const auto& node : graph_.nodes()) {
      const auto& users = users_[static_cast<size_t>(node->id)];
      for (size_t i = 1; i < users.size(); ++i) {
        for (size_t j = 0; j < i; ++j) try_join(users[j]->id, users[i]->id);
      }
    }
  }

  void try_join(int a, int b) {
    const int ga = group_[static_cast<size_t>(a)];
    const int gb = group_[static_cast<size_t>(b)];
    if (ga < 0 || gb < 0 || ga == gb) return;
    if (!(space(graph_.node(static_cast<size_t>(a))) == space(graph_.node(static_cast<size_t>(b))))) return;
    std::vector<int> both = members_[ga];
    both.insert(both.end(), members_[gb].begin(), members_[gb].end());
    std::sort(both.begin(), both.end());
    if (!fits(both) || leaves_and_returns(both)) return;
    for (const int id : both) group_[static_cast<size_t>(id)] = ga;
    cover(members_[ga], -1);
    cover(members_[gb], -1);
    cover(both, 1);
    members_.erase(gb);
    members_[ga] = std::move(both);
  }

  /// Counts a group, or takes it out, at the nodes from its first to the one before its last.
  void cover(const std::vector<int>& sorted, int by) {
    for (int id = sorted.front(); id < sorted.back(); ++id) covers_[static_cast<size_t>(id)] += by;
  }

  /// The last node from which a path may lead back to `id`: edges lead to higher numbers, and back only
  /// inside of groups.
  int last_that_may_return(int id) const {
    while (covers_[static_cast<size_t>(id)] > 0) ++id;
    return id;
  }

  bool fits(const std::vector<int>& nodes) const {
    std::set<Symbol> inputs;
    size_t outputs = 0;
    size_t instructions = 0;
    const std::set<int> inside(nodes.begin(), nodes.end());
    for (const int id : nodes) {
      const Node& node = graph_.node(static_cast<size_t>(id));
      for (const Symbol& s : node.inputs) {
        const bool is_inside = inside.contains(s.node->id);
        if (!is_inside) inputs.insert(s);
        // A sweep keeps its values in float, not rounded to the type of its results.
        if (is_inside && is_half(s.dtype())) return false;
      }
      const auto& users = users_[static_cast<size_t>(id)];
      const bool leaves =
          std::any_of(users.begin(), users.end(), [&](const Node* u) { return !inside.contains(u->id); });
      outputs += leaves || users.empty() ? 1 : 0;
      if (const auto* op = op_cast<Pointwise>(node)) instructions += op->expression().code.size();
    }
    return inputs.size() <= Sweep::kMaxInputs && outputs <= Sweep::kMaxOutputs &&
           instructions <= Sweep::kMaxInstructions;
  }

  /// True if a path leaves the set and returns to it: the sweep would wait for itself. A reduction's result
  /// that is used inside the set is such a path too, because it is complete only at the end of the sweep.
  bool leaves_and_returns(const std::vector<int>& nodes) {
    const int inside = ++stamp_;
    for (const int id : nodes) mark_[static_cast<size_t>(id)] = inside;
    for (const int id : nodes) {
      const bool reduction = op_cast<Reduce>(graph_.node(static_cast<size_t>(id))) != nullptr;
      for (const Node* user : users_[static_cast<size_t>(id)]) {
        const bool stays = mark_[static_cast<size_t>(user->id)] == inside;
        if (stays && reduction) return true;
        if (!stays) open_.push_back(user->id);
      }
    }
    const int seen = ++stamp_;
    const int last = last_that_may_return(nodes.back());
    bool returns = false;
    while (!open_.empty()) {
      const auto id = static_cast<size_t>(open_.back());
      open_.pop_back();
      if (static_cast<int>(id) > last) continue;
      if (mark_[id] == inside) returns = true;
      if (returns || mark_[id] == seen) continue;
      mark_[id] = seen;
      for (const Node* user : users_[id]) open_.push_back(user->id);
      // A group is one node: an edge into a member waits for all of it.
      if (group_[id] < 0) continue;
      for (const int other : members_.at(group_[id])) {
        if (mark_[static_cast<size_t>(other)] != seen) open_.push_back(other);
      }
    }
    return returns;
  }

  const Graph& graph_;
  std::vector<int> group_;
  std::vector<std::vector<const Node*>> users_;
  std::map<int, std::vector<int>> members_;
  std::vector<int> covers_ =
      std::vector<int>(group_.size());  // by node id: the groups with nodes up to it and after it
  std::vector<int> mark_ = std::vector<int>(group_.size());  // by node id: the last search that met it
  int stamp_ = 0;
  std::vector<int> open_;
};

/// Builds the sweep of one group.
class SweepBuilder {
 public:
  SweepBuilder(const Graph& graph, const std::vector<int>& nodes, const std::vector<bool>& leaves)
      : graph_(graph), leaves_(leaves) {
    for (const int id : nodes) {
      for (const Symbol& s : graph.node(static_cast<size_t>(id)).inputs) {
        const bool is_inside = std::find(nodes.begin(), nodes.end(), s.node->id) != nodes.end();
        if (!is_inside && op_cast<Constant>(*s.node) == nullptr) types_.insert(s.dtype());
      }
    }
    for (const int id : nodes) add(graph.node(static_cast<size_t>(id)));
  }

  std::shared_ptr<const Op> op() const {
    const Node& first = graph_.node(static_cast<size_t>(order_.front()));
    DType float_type = DType::kFloat32;
    for (const Symbol& s : inputs_) float_type = s.dtype() == DType::kFloat64 ? s.dtype() : float_type;
    return std::make_shared<const Sweep>(expression_, reductions_, Grouping::space(first), float_type);
  }
  const std::vector<Symbol>& inputs() const { return inputs_; }
  /// The old node of each output, results first, then reductions.
  std::vector<int> outputs() const {
    std::vector<int> all = written_;
    all.insert(all.end(), reduced_.begin(), reduced_.end());
    return all;
  }

 private:
  int load(Symbol s) {
    const auto made = register_of_.find(s);
    if (made != register_of_.end()) return made->second;
    const auto* constant = op_cast<Constant>(*s.node);
    if (constant != nullptr && needs_no_tensor(constant->params())) {
      return register_of_[s] = emit({Fn::kConstant, {-1, -1, -1}, value_of(constant->params())});
    }
    inputs_.push_back(s);
    expression_.inputs = static_cast<int>(inputs_.size());
    return register_of_[s] = emit({Fn::kInput, {expression_.inputs - 1, -1, -1}});
  }

  /// In the form of a tensor.
  static double value_of(const ConstantParams& constant) {
    const bool is_single = constant.dtype == DType::kFloat32;
    return is_single ? static_cast<double>(static_cast<float>(constant.value)) : constant.value;
  }
  /// The sweep has its own shape. Its inputs determine the type of its computation.
  bool needs_no_tensor(const ConstantParams& constant) const {
    return !types_.empty() && (constant.dtype != DType::kFloat64 || types_.contains(DType::kFloat64));
  }

  int emit(const Instruction& instruction) {
    // Merges equal instructions: constants and loads that several nodes have in common.
    const auto twin = std::find(expression_.code.begin(), expression_.code.end(), instruction);
    if (twin != expression_.code.end()) return static_cast<int>(twin - expression_.code.begin());
    expression_.code.push_back(instruction);
    return static_cast<int>(expression_.code.size()) - 1;
  }

  void add(const Node& node) {
    order_.push_back(node.id);
    if (const auto* reduce = op_cast<Reduce>(node)) {
      reductions_.push_back({load(node.inputs[0]), reduce->params().kind, reduce->params().axes});
      reduced_.push_back(node.id);
      return;
    }
    const Expression& e = op_cast<Pointwise>(node)->expression();
    std::vector<int> renamed;
    for (Instruction instruction : e.code) {
      if (instruction.fn == Fn::kInput) {
        renamed.push_back(load(node.inputs[static_cast<size_t>(instruction.args[0])]));
        continue;
      }
      for (int& argument : instruction.args)
        argument = argument < 0 ? argument : renamed[static_cast<size_t>(argument)];
      renamed.push_back(emit(instruction));
    }
    const int result = renamed[static_cast<size_t>(e.results[0])];
    register_of_[node.out()] = result;
    if (!leaves_[static_cast<size_t>(node.id)]) return;
    expression_.results.push_back(result);
    expression_.types.push_back(e.types[0]);
    written_.push_back(node.id);
  }

  const Graph& graph_;
  const std::vector<bool>& leaves_;
  std::set<DType> types_;  // of the inputs that are not constants
  Expression expression_;
  std::vector<SweepReduction> reductions_;
  std::vector<Symbol> inputs_;
  std::map<Symbol, int> register_of_;
  std::vector<int> written_;
  std::vector<int> reduced_;
  std::vector<int> order_;
};

/// Emits the graph group by group, in an order in which inputs come first.
class Emission {
 public:
  explicit Emission(const Graph& graph)
      : graph_(graph),
        grouping_(graph),
        needed_(graph.needed()),
        stands_for_(graph.size()),
        leaves_(graph.size()) {
    const auto& group = grouping_.group();
    const auto users = graph.users();
    for (const auto& node : graph.nodes()) {
      const auto id = static_cast<size_t>(node->id);
      leaves_[id] = std::any_of(users[id].begin(), users[id].end(), [&](const Node* user) {
        const auto u = static_cast<size_t>(user->id);
        return needed_[u] && (group[u] < 0 || group[u] != group[id]);
      });
    }
    for (const Symbol& root : graph.roots()) leaves_[static_cast<size_t>(root.node->id)] = true;
  }

  Graph run() {
    for (const auto& node : graph_.nodes()) {
      if (needed_[static_cast<size_t>(node->id)] || op_cast<Input>(*node) != nullptr) emit(*node);
    }
    for (const Fetch& fetch : graph_.fetches()) out_.fetch(fetch.name, mapped(fetch.value));
    for (const Assignment& a : graph_.assignments()) out_.assign(a.variable, mapped(a.value));
    return std::move(out_);
  }

 private:
  Symbol mapped(Symbol s) const {
    return stands_for_[static_cast<size_t>(s.node->id)][static_cast<size_t>(s.output)];
  }
  bool done(const Node& node) const { return !stands_for_[static_cast<size_t>(node.id)].empty(); }

  std::vector<Symbol> emitted(std::span<const Symbol> inputs) {
    std::vector<Symbol> all;
    for (const Symbol& s : inputs) {
      emit(*s.node);
      all.push_back(mapped(s));
    }
    return all;
  }

  void emit(const Node& node) {
    if (done(node)) return;
    const int group = grouping_.group()[static_cast<size_t>(node.id)];
    if (group >= 0) return emit_group(grouping_.members().at(group));
    const std::vector<Symbol> inputs = emitted(node.inputs);
    const Node& copy = out_.add(node.op, inputs, node.path, node.origin);
    for (int i = 0; i < static_cast<int>(copy.outputs.size()); ++i) {
      stands_for_[static_cast<size_t>(node.id)].push_back(copy.out(i));
    }
  }

  void emit_group(const std::vector<int>& members) {
    const SweepBuilder sweep(graph_, members, leaves_);
    const std::vector<Symbol> inputs = emitted(sweep.inputs());
    const Node& first = graph_.node(static_cast<size_t>(members.front()));
    const Node& made = out_.add(sweep.op(), inputs, first.path, first.origin);
    for (const int id : members)
      stands_for_[static_cast<size_t>(id)] = {made.out()};  // inner ones are never requested
    const std::vector<int> outputs = sweep.outputs();
    for (int i = 0; i < static_cast<int>(outputs.size()); ++i) {
      stands_for_[static_cast<size_t>(outputs[static_cast<size_t>(i)])] = {made.out(i)};
    }
  }

  const Graph& graph_;
  Grouping grouping_;
  std::vector<bool> needed_;
  std::vector<std::vector<Symbol>> stands_for_;
  std::vector<bool> leaves_;
  Graph out_;
};

}  // namespace

Graph fuse_pointwise(const Graph& graph) { return Emission(graph).run(); }

}  // namespace tpack
