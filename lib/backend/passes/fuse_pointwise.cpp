#include <algorithm>
#include <cstdint>
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
  explicit Grouping(const Graph& graph)
      : graph_(graph),
        group_(graph.size(), -1),
        users_(graph.users()),
        members_(graph.size()),
        order_(graph.size()),
        rank_(graph.size()),
        mark_(graph.size()) {
    const std::vector<bool> needed = graph.needed();
    for (const auto& node : graph.nodes()) {
      const auto id = static_cast<size_t>(node->id);
      members_[id] = {node->id};
      order_[id] = rank_[id] = node->id;
      if (needed[id] && fusable(*node)) group_[id] = node->id;
    }
    find_hubs();
    join_along_edges();
    join_siblings();
  }

  /// By node id: the number of the node's group, -1 for nodes that stay alone.
  const std::vector<int>& group() const { return group_; }
  const std::vector<int>& members(int group) const { return members_[static_cast<size_t>(group)]; }

  /// The shape that a node runs over.
  static const Shape& space(const Node& node) {
    return op_cast<Reduce>(node) != nullptr ? node.inputs[0].shape() : node.outputs[0].shape;
  }

 private:
  struct Hubs {
    uint64_t inside = 0;
    uint64_t before = 0;  // that it needs
    uint64_t after = 0;   // that need it
  };

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

  /// Two sweeps that read the same large tensor become one: batch normalization's two sums. A constant may
  /// have thousands of users: each is tried with the nearest ones before it.
  void join_siblings() {
    constexpr size_t kNearest = 64;
    for (const auto& node : graph_.nodes()) {
      const auto& users = users_[static_cast<size_t>(node->id)];
      for (size_t i = 1; i < users.size(); ++i) {
        for (size_t j = i - std::min(i, kNearest); j < i; ++j) try_join(users[j]->id, users[i]->id);
      }
    }
  }

  void try_join(int a, int b) {
    const int ga = group_[static_cast<size_t>(a)];
    const int gb = group_[static_cast<size_t>(b)];
    if (ga < 0 || gb < 0 || ga == gb) return;
    if (!(space(graph_.node(static_cast<size_t>(a))) == space(graph_.node(static_cast<size_t>(b))))) return;
    std::vector<int> both = members(ga);
    both.insert(both.end(), members(gb).begin(), members(gb).end());
    std::sort(both.begin(), both.end());
    if (!fits(both)) return;
    const auto [low, high] = rank(ga) < rank(gb) ? std::pair(ga, gb) : std::pair(gb, ga);
    Hubs& hubs = hubs_[static_cast<size_t>(ga)];
    const Hubs& others = hubs_[static_cast<size_t>(gb)];
    if (waits_for_hub(hubs_[static_cast<size_t>(low)], hubs_[static_cast<size_t>(high)]) ||
        waits_for_others(low, high))
      return;
    hubs = {hubs.inside | others.inside, hubs.before | others.before, hubs.after | others.after};
    merge(low, high, ga);
    for (const int id : both) group_[static_cast<size_t>(id)] = ga;
    members_[static_cast<size_t>(ga)] = std::move(both);
  }

  // A group, or a node that is alone, is a unit, known by the number of one of its nodes. Units have ranks in
  // an order in which inputs come first. After Pearce and Kelly 2007, "A Dynamic Topological Sort Algorithm
  // for Directed Acyclic Graphs".

  int rank(int unit) const { return rank_[static_cast<size_t>(unit)]; }
  int unit_of(int id) const {
    return group_[static_cast<size_t>(id)] < 0 ? id : group_[static_cast<size_t>(id)];
  }

  /// A few nodes, evenly spaced; each has a bit. Most units that wait for others do so through one of them.
  void find_hubs() {
    const size_t distance = std::max<size_t>(graph_.size() / 64, 16);
    hubs_.resize(graph_.size());
    for (size_t id = 0; id < graph_.size(); ++id) {
      Hubs& mine = hubs_[id];
      mine.inside = id % distance == 0 && id / distance < 64 ? uint64_t{1} << (id / distance) : 0;
      for (const Symbol& s : graph_.node(id).inputs) {
        const Hubs& input = hubs_[static_cast<size_t>(s.node->id)];
        mine.before |= input.before | input.inside;
      }
    }
    for (size_t id = graph_.size(); id-- > 0;) {
      for (const Node* user : users_[id])
        hubs_[id].after |=
            hubs_[static_cast<size_t>(user->id)].after | hubs_[static_cast<size_t>(user->id)].inside;
    }
  }
  bool waits_for_hub(const Hubs& low, const Hubs& high) const {
    return (low.after & high.before & ~low.inside & ~high.inside) != 0;
  }

  /// True if `high` needs something outside of both that needs `low`, or a sum of `low`, which is complete
  /// only at the end of the sweep: the sweep would wait for itself. Marks what needs `low` and comes before
  /// `high`.
  bool waits_for_others(int low, int high) {
    mark_[static_cast<size_t>(low)] = ++stamp_;
    std::vector<int> open = {low};
    while (!open.empty()) {
      const int unit = open.back();
      open.pop_back();
      for (const int id : members(unit)) {
        const bool is_complete_later =
            unit != low || op_cast<Reduce>(graph_.node(static_cast<size_t>(id))) != nullptr;
        for (const Node* user : users_[static_cast<size_t>(id)]) {
          const int next = unit_of(user->id);
          if (next == high && is_complete_later) return true;
          if (rank(next) >= rank(high) || mark_[static_cast<size_t>(next)] == stamp_) continue;
          mark_[static_cast<size_t>(next)] = stamp_;
          open.push_back(next);
        }
      }
    }
    return false;
  }

  /// One unit in place of two: after the units between them, but before those that need `low`, which are
  /// marked.
  void merge(int low, int high, int merged) {
    const int end = rank(high);
    int next = rank(low);
    const auto place = [&](int unit) {
      order_[static_cast<size_t>(next)] = unit;
      rank_[static_cast<size_t>(unit)] = next++;
    };
    std::vector<int> later;
    for (int i = next + 1; i < end; ++i) {
      const int unit = order_[static_cast<size_t>(i)];
      if (unit == kNobody) continue;
      if (mark_[static_cast<size_t>(unit)] == stamp_) {
        later.push_back(unit);
      } else {
        place(unit);
      }
    }
    place(merged);
    std::ranges::for_each(later, place);
    for (; next <= end; ++next) order_[static_cast<size_t>(next)] = kNobody;
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

  const Graph& graph_;
  std::vector<int> group_;
  std::vector<std::vector<const Node*>> users_;
  std::vector<std::vector<int>> members_;  // by unit: its nodes, in order
  static constexpr int kNobody = -1;
  std::vector<int> order_;  // by rank: the unit, or kNobody
  std::vector<int> rank_;   // by unit
  std::vector<Hubs> hubs_;  // by unit
  std::vector<int> mark_;   // by unit: the last search that met it
  int stamp_ = 0;
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
    if (group >= 0) return emit_group(grouping_.members(group));
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
