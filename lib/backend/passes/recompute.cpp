#include <algorithm>
#include <map>
#include <set>

#include "backend/passes/fused_ops.h"
#include "backend/passes/passes.h"
#include "graph/structural.h"

namespace tpack {
namespace {

using pointwise::Expression;
using pointwise::Fn;
using pointwise::Instruction;

// An input that is this many times smaller than the result may be kept for it: statistics and weights of
// channels.
constexpr int64_t kSmall = 16;

/// The part of an expression that computes some of its results.
class PartOfSweep {
 public:
  PartOfSweep(const Sweep& sweep, const std::vector<size_t>& results) : whole_(sweep.expression()) {
    for (const size_t k : results) {
      part_.results.push_back(copied(whole_.results[k]));
      part_.types.push_back(whole_.types[k]);
    }
    part_.inputs = static_cast<int>(inputs_.size());
  }
  const Expression& expression() const { return part_; }
  /// The sweep's inputs that the part has, in order.
  const std::vector<int>& inputs() const { return inputs_; }

 private:
  int copied(int number) {
    const auto found = copies_.find(number);
    if (found != copies_.end()) return found->second;
    Instruction instruction = whole_.code[static_cast<size_t>(number)];
    if (instruction.fn == Fn::kInput) {
      inputs_.push_back(instruction.args[0]);
      instruction.args[0] = static_cast<int>(inputs_.size()) - 1;
    } else {
      for (int& argument : instruction.args) argument = argument < 0 ? argument : copied(argument);
    }
    part_.code.push_back(instruction);
    return copies_[number] = static_cast<int>(part_.code.size()) - 1;
  }

  const Expression& whole_;
  Expression part_;
  std::vector<int> inputs_;
  std::map<int, int> copies_;
};

bool is_stored_elsewhere(const Node& node) {
  return op_cast<Input>(node) != nullptr || op_cast<Read>(node) != nullptr;
}

/// Which values are computed again, and after which node. As long as that helps: of the values that take
/// memory where most is taken, those that the sweep can compute once more from what is needed there anyway.
class Choice {
 public:
  explicit Choice(const Graph& graph) : graph_(graph), needed_(graph.needed()) {
    for (const auto& node : graph.nodes()) {
      if (!needed_[static_cast<size_t>(node->id)]) continue;
      for (const Symbol& s : node->inputs) uses_[s].push_back(node->id);
    }
    for (const Symbol& root : graph.roots()) roots_.insert(root);
    while (choose_at(peak())) {
    }
  }

  bool is_again(const Symbol& s, const Node& user) const {
    const auto found = after_.find(s);
    return found != after_.end() && user.id > found->second;
  }

 private:
  /// The node at which the values that are needed take most memory.
  int peak() const {
    std::vector<int64_t> changes(graph_.size() + 1);
    const auto lives = [&](int first, int last, int64_t bytes) {
      changes[static_cast<size_t>(first)] += bytes;
      changes[static_cast<size_t>(last) + 1] -= bytes;
    };
    for (const auto& [s, uses] : uses_) {
      if (is_stored_elsewhere(*s.node)) continue;
      const int64_t bytes = s.spec().bytes();
      const auto again = after_.find(s);
      if (again == after_.end()) {
        lives(s.node->id, uses.back(), bytes);
        continue;
      }
      const auto late = std::ranges::upper_bound(uses, again->second);
      lives(s.node->id, late == uses.begin() ? s.node->id : *(late - 1), bytes);
      lives(*late, uses.back(), bytes);
    }
    int64_t taken = 0;
    int64_t most = -1;
    int at = 0;
    for (size_t id = 0; id < graph_.size(); ++id) {
      taken += changes[id];
      if (taken <= most) continue;
      most = taken;
      at = static_cast<int>(id);
    }
    return at;
  }

  bool choose_at(int at) {
    std::set<Symbol> found;
    for (const auto& [s, uses] : uses_) {
      const bool is_across = s.node->id < at && uses.back() > at && !std::ranges::binary_search(uses, at);
      if (is_across && is_result(s) && !roots_.contains(s) && !after_.contains(s)) found.insert(s);
    }
    while (std::erase_if(found, [&](const Symbol& s) { return !has_inputs(s, at, found); }) > 0) {
    }
    for (const Symbol& s : found) after_[s] = at;
    return !found.empty();
  }

  static bool is_result(const Symbol& s) {
    const auto* sweep = op_cast<Sweep>(*s.node);
    return sweep != nullptr && static_cast<size_t>(s.output) < sweep->expression().results.size();
  }

  bool has_inputs(const Symbol& s, int at, const std::set<Symbol>& found) const {
    const PartOfSweep part(*op_cast<Sweep>(*s.node), {static_cast<size_t>(s.output)});
    return std::ranges::all_of(part.inputs(), [&](int i) {
      const Symbol input = s.node->inputs[static_cast<size_t>(i)];
      const bool is_small = input.spec().bytes() * kSmall <= s.spec().bytes();
      return is_small || is_stored_elsewhere(*input.node) || uses_.at(input).back() > at ||
             found.contains(input) || after_.contains(input);
    });
  }

  const Graph& graph_;
  std::vector<bool> needed_;
  std::map<Symbol, std::vector<int>> uses_;  // in order
  std::set<Symbol> roots_;
  std::map<Symbol, int> after_;
};

class Recomputation {
 public:
  explicit Recomputation(const Graph& graph) : graph_(graph), choice_(graph), copies_(graph.size()) {}

  Graph run() {
    const std::vector<bool> needed = graph_.needed();
    for (const auto& node : graph_.nodes()) {
      const auto id = static_cast<size_t>(node->id);
      if (!needed[id] && op_cast<Input>(*node) == nullptr) continue;
      std::vector<Symbol> inputs;
      for (const Symbol& s : node->inputs) inputs.push_back(operand(s, *node));
      copies_[id] = &out_.add(node->op, std::move(inputs), node->path, node->origin);
    }
    for (const Fetch& fetch : graph_.fetches()) out_.fetch(fetch.name, copied(fetch.value));
    for (const Assignment& a : graph_.assignments()) out_.assign(a.variable, copied(a.value));
    return std::move(out_);
  }

 private:
  Symbol copied(const Symbol& s) const { return copies_[static_cast<size_t>(s.node->id)]->out(s.output); }

  /// A value for a node: the stored one, or computed again, at the first use.
  Symbol operand(const Symbol& s, const Node& user) {
    if (!choice_.is_again(s, user)) return copied(s);
    const auto found = again_.find(s);
    if (found != again_.end()) return found->second;
    std::vector<size_t> results;  // of the same sweep, at once
    const Sweep& sweep = *op_cast<Sweep>(*s.node);
    for (size_t k = 0; k < sweep.expression().results.size(); ++k) {
      if (choice_.is_again(s.node->out(static_cast<int>(k)), user)) results.push_back(k);
    }
    const PartOfSweep part(sweep, results);
    std::vector<Symbol> inputs;
    for (const int i : part.inputs()) inputs.push_back(operand(s.node->inputs[static_cast<size_t>(i)], user));
    const auto op = std::make_shared<const Sweep>(part.expression(), std::vector<SweepReduction>{},
                                                  sweep.shape(), sweep.float_type());
    const std::string path = s.node->path + kRecomputed + std::to_string(results.front());
    const Node& again = out_.add(op, std::move(inputs), path, s.node->origin);
    for (size_t i = 0; i < results.size(); ++i)
      again_[s.node->out(static_cast<int>(results[i]))] = again.out(static_cast<int>(i));
    return again_.at(s);
  }

  const Graph& graph_;
  Choice choice_;
  Graph out_;
  std::vector<const Node*> copies_;  // by node id
  std::map<Symbol, Symbol> again_;
};

}  // namespace

Graph recompute_sweeps(const Graph& graph) { return Recomputation(graph).run(); }

}  // namespace tpack
