#include "backend/engine/lowering.h"

#include <algorithm>
#include <map>
#include <set>

#include "graph/structural.h"

namespace tpack {
namespace {

using Place = Value::Place;

/// A convolution that is a part of a depth-first node may have indices between its factors.
NodeTypes types_of(const Node& node, const PreparedKernel& prepared) {
  NodeTypes types{node.path, node.outputs, {}};
  if (!node.op->is_product() && node.op->window() == nullptr) return types;
  for (const Format& input : prepared.in)
    if (is_float(input.type) && types.factors.size() < 2) types.factors.push_back(input.type);
  return types;
}

class Lowering {
 public:
  Lowering(const Graph& graph, const PlanSection& section, const VariableStore& store,
           const KernelLibrary& library, bool keep_constants)
      : graph_(graph), section_(section), store_(store), library_(library), keep_constants_(keep_constants) {}

  LoweredProgram run() {
    const std::vector<bool> needed = graph_.needed();
    for (const auto& node : graph_.nodes()) {
      // Inputs that no node needs are counted too: the caller gives them.
      if (op_cast<Input>(*node) != nullptr || needed[static_cast<size_t>(node->id)]) add(*node);
    }
    place_assignments();
    place_fetches();
    insert_steps();
    if (keep_constants_ && graph_.assignments().empty()) keep_constants();
    share_in_place();
    return std::move(program_);
  }

 private:
  int new_value(Value value) {
    program_.values.push_back(std::move(value));
    producer_.push_back(kNoStep);
    reads_.emplace_back();
    return static_cast<int>(program_.values.size()) - 1;
  }

  void add_step(Step step) {
    const int index = static_cast<int>(program_.steps.size());
    for (const int value : step.out) producer_[static_cast<size_t>(value)] = index;
    for (size_t k = 0; k < step.in.size(); ++k)
      reads_[static_cast<size_t>(program_.owner(step.in[k]))].push_back({index, static_cast<int>(k)});
    program_.steps.push_back(std::move(step));
  }

  void add(const Node& node) {
    if (const auto* input = op_cast<Input>(node)) {
      (void)input;
      value_of_[node.out()] =
          new_value({Place::kInput, make_format(node.outputs[0], Layout::kPlain), "", program_.inputs++});
      return;
    }
    if (const auto* read = op_cast<Read>(node)) {
      value_of_[node.out()] = variable(read->params().variable, node.outputs[0]);
      return;
    }
    const auto chosen = section_.nodes.find(node.path);
    const NodeChoice choice = chosen == section_.nodes.end() ? NodeChoice{"plain", ""} : chosen->second;
    const KernelRequest request{node, layout_from(choice.layout), choice.algorithm, section_.pieces};
    PreparedKernel prepared = library_.prepare(request);
    std::vector<int> in;
    for (size_t i = 0; i < node.inputs.size(); ++i)
      in.push_back(in_format(value_of_.at(node.inputs[i]), prepared.in[i], node.path));
    Step step;
    step.in = std::move(in);
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      Value value{Place::kArena, prepared.out[i], "", 0, -1};
      if (!prepared.kernel) {
        value.same_as = step.in[0];
        value.begin = program_.values[static_cast<size_t>(step.in[0])].begin + prepared.part_begin;
      }
      step.out.push_back(new_value(std::move(value)));
      value_of_[node.out(static_cast<int>(i))] = step.out.back();
    }
    if (!prepared.kernel) return;
    program_.types.push_back(types_of(node, prepared));
    step.kernel = std::move(prepared.kernel);
    step.scratch_bytes = prepared.scratch_bytes;
    step.in_place = std::move(prepared.in_place);
    step.path = node.path;
    step.kind = library_.kind(node);
    step.flops = node.op->flops(node);
    step.is_stateful = node.op->stateful();
    add_step(std::move(step));
  }

  int variable(const std::string& name, const TensorSpec& spec) {
    const auto found = variables_.find(name);
    if (found != variables_.end()) return found->second;
    return variables_[name] = new_value({Place::kVariable, make_format(spec, Layout::kPlain), name});
  }

  static Format plain_of(const Format& image) {
    return make_format({image.type, image.sizes}, Layout::kPlain);
  }

  /// The value in the requested format: itself, an earlier copy, or a new copy.
  int in_format(int value, const Format& wanted, const std::string& path) {
    const Format have = program_.values[static_cast<size_t>(value)].format;
    if (same_memory(have, wanted)) return value;
    if (have.sizes.rank() != wanted.sizes.rank()) {
      // A library may see the weights of a grouped convolution with one more axis: only the plain order is
      // the same for both.
      const Format& image = have.layout == Layout::kOpaque ? wanted : have;
      if (!same_memory(image, plain_of(image)))
        return in_format(in_format(value, plain_of(image), path), wanted, path);
    }
    for (const int copy : copies_[value]) {
      if (program_.values[static_cast<size_t>(copy)].format == wanted) return copy;
    }
    const int copy = new_value({Place::kArena, wanted});
    copies_[value].push_back(copy);
    add_step(reorder(value, copy, path + "/Reorder"));
    ++program_.reorders;
    return copy;
  }

  Step reorder(int from, int to, const std::string& path) const {
    Step step;
    step.kernel = library_.reorder(program_.values[static_cast<size_t>(from)].format,
                                   program_.values[static_cast<size_t>(to)].format, section_.pieces,
                                   step.scratch_bytes);
    step.in = {from};
    step.out = {to};
    step.path = path;
    step.kind = "Reorder";
    return step;
  }

  // --- results are written where they belong

  /// The step that writes a value's memory. kBeforeAll for copies of what variables had at the start, kNoStep
  /// for inputs and variables.
  int producer(int value) const { return producer_[static_cast<size_t>(value)]; }

  /// True if writing the variable at step `at` (which computes `value`) disturbs no read of its old value.
  bool may_overwrite(int variable_value, int at, int value) const {
    for (const Use& read : reads_[static_cast<size_t>(variable_value)]) {
      if (read.step < at) continue;
      if (read.step > at) return false;
      const Step& step = program_.steps[static_cast<size_t>(at)];
      const auto out = std::find(step.out.begin(), step.out.end(), value) - step.out.begin();
      const std::pair<int, int> pair(static_cast<int>(out), read.operand);
      if (std::find(step.in_place.begin(), step.in_place.end(), pair) == step.in_place.end()) return false;
    }
    const auto is_read_later = [&](int other) {
      const auto& reads = reads_[static_cast<size_t>(other)];
      return other != variable_value && !reads.empty() && reads.back().step >= at &&
             overlap(other, variable_value);
    };
    if (std::ranges::find(blocks_, variable_value) == blocks_.end())
      return std::ranges::none_of(blocks_, is_read_later);
    return std::ranges::none_of(variables_, [&](const auto& entry) { return is_read_later(entry.second); });
  }

  /// Moves an arena value to another place. False if its memory or format cannot be chosen freely.
  bool move(int value, const Value& target) {
    Value& v = program_.values[static_cast<size_t>(value)];
    const bool free = v.place == Place::kArena && v.same_as < 0 && producer(value) >= 0;
    if (!free || !same_memory(v.format, target.format)) return false;
    const Format format = v.format;
    v = target;
    v.format = format;
    return true;
  }

  void place_assignments() {
    std::set<std::string> last;  // later assignments to one name win
    std::vector<const Assignment*> order;
    const auto& all = graph_.assignments();
    for (size_t i = all.size(); i-- > 0;) {
      if (last.insert(all[i].variable).second) order.push_back(&all[i]);
    }
    std::reverse(order.begin(), order.end());
    for (const auto& [name, value] : variables_) {
      if (FlatBlock::parse(name)) blocks_.push_back(value);
    }
    std::vector<std::pair<int, int>> copies;
    for (const Assignment* a : order) {
      const Format plain = make_format(a->value.spec(), Layout::kPlain);
      const int target = variable(a->variable, a->value.spec());
      int value = value_of_.at(a->value);
      // A reshaped result has the same memory: its owner may be moved.
      const int owner = program_.owner(value);
      const bool whole = same_memory(program_.values[static_cast<size_t>(value)].format, plain) &&
                         program_.values[static_cast<size_t>(owner)].format.bytes() == plain.bytes();
      if (whole && may_overwrite_by(owner, target) && move_owner(owner, target)) continue;
      if (is_initial(owner) && owner != target) value = copied(value);
      copies.emplace_back(value, target);
    }
    for (const auto& [value, target] : copies) {
      Step step = reorder(value, target, "assign/" + program_.values[static_cast<size_t>(target)].name);
      const int written = producer(program_.owner(value));
      const bool at_once = written != kNoStep && may_overwrite(target, written + 1, -1);
      later_.emplace_back(at_once ? written : last_step(), std::move(step));
    }
  }

  /// True if two variables share memory: a flat block and one of its parts.
  bool overlap(int a, int b) const {
    const Tensor x = store_.tensor(program_.values[static_cast<size_t>(a)].name);
    const Tensor y = store_.tensor(program_.values[static_cast<size_t>(b)].name);
    return x.address() < y.address() + y.bytes() && y.address() < x.address() + x.bytes();
  }
  /// True for the value that a variable had when the program started; false for a result that was moved into
  /// one.
  bool is_initial(int owner) const {
    const Value& v = program_.values[static_cast<size_t>(owner)];
    return v.place == Place::kVariable && producer(owner) == kNoStep;
  }
  bool may_overwrite_by(int owner, int target) const {
    const int at = producer(owner);
    return at >= 0 && may_overwrite(target, at, owner);
  }
  bool move_owner(int owner, int target) {
    Value v = program_.values[static_cast<size_t>(target)];
    v.format = program_.values[static_cast<size_t>(owner)].format;
    return move(owner, v);
  }

  /// A variable's old value that is needed after the variable changed.
  int copied(int value) {
    const int copy = new_value({Place::kArena, program_.values[static_cast<size_t>(value)].format});
    producer_[static_cast<size_t>(copy)] = kBeforeAll;
    first_.push_back(reorder(value, copy, "assign/Copy"));
    return copy;
  }

  void place_fetches() {
    const auto& fetches = graph_.fetches();
    for (size_t i = 0; i < fetches.size(); ++i) {
      const TensorSpec& spec = fetches[i].value.spec();
      program_.fetches.push_back(spec);
      const int value = value_of_.at(fetches[i].value);
      const Value target{Place::kFetch, make_format(spec, Layout::kPlain), "", static_cast<int>(i)};
      if (move(value, target)) continue;
      const int place = new_value(target);
      Step step = reorder(value, place, "fetch/" + fetches[i].name);
      // The old value of a variable is fetched before anything can change it.
      if (is_initial(program_.owner(value)))
        first_.push_back(std::move(step));
      else
        later_.emplace_back(last_step(), std::move(step));
    }
  }

  int last_step() const { return static_cast<int>(program_.steps.size()) - 1; }

  /// Copies into variables and fetches that the nodes' own steps could not write.
  void insert_steps() {
    std::ranges::stable_sort(later_, {}, [](const auto& entry) { return entry.first; });
    std::vector<Step> all = std::move(first_);
    auto next = later_.begin();
    for (int i = kBeforeAll; i <= last_step(); ++i) {
      if (i != kBeforeAll) all.push_back(std::move(program_.steps[static_cast<size_t>(i)]));
      for (; next != later_.end() && next->first == i; ++next) all.push_back(std::move(next->second));
    }
    program_.steps = std::move(all);
  }

  // --- constants

  /// Steps that read variables and results of such steps only are constant; their results that others read
  /// get memory of their own.
  void keep_constants() {
    std::vector<bool> is_constant(program_.values.size());
    const auto constant = [&](int value) {
      const int owner = program_.owner(value);
      return is_initial(owner) || is_constant[static_cast<size_t>(owner)];
    };
    for (Step& step : program_.steps) {
      step.is_constant = !step.is_stateful && std::ranges::all_of(step.in, constant);
      if (!step.is_constant) continue;
      for (const int value : step.out) is_constant[static_cast<size_t>(program_.owner(value))] = true;
    }
    for (const Step& step : program_.steps) {
      if (step.is_constant) continue;
      for (const int value : step.in) {
        Value& owner = program_.values[static_cast<size_t>(program_.owner(value))];
        if (owner.place == Place::kArena && is_constant[static_cast<size_t>(program_.owner(value))])
          owner.place = Place::kConstant;
      }
    }
  }

  // --- in-place

  /// An output reuses the memory of an input that is no longer needed.
  void share_in_place() {
    std::map<int, int> last_use;  // by owner
    for (size_t i = 0; i < program_.steps.size(); ++i) {
      for (const int value : program_.steps[i].in) last_use[program_.owner(value)] = static_cast<int>(i);
    }
    for (size_t i = 0; i < program_.steps.size(); ++i) {
      std::set<int> taken;
      for (const auto& [out, in] : program_.steps[i].in_place) {
        const int to = program_.steps[i].out[static_cast<size_t>(out)];
        const int from = program_.owner(program_.steps[i].in[static_cast<size_t>(in)]);
        Value& result = program_.values[static_cast<size_t>(to)];
        const Value& source = program_.values[static_cast<size_t>(from)];
        const bool both_free =
            result.place == Place::kArena && source.place == Place::kArena && result.same_as < 0;
        const bool is_part =
            program_.values[static_cast<size_t>(program_.steps[i].in[static_cast<size_t>(in)])]
                .format.bytes() != source.format.bytes();
        const bool fits =
            !is_part && source.format.bytes() == result.format.bytes() && reads_once(program_.steps[i], from);
        if (!both_free || !fits || last_use[from] != static_cast<int>(i) || !taken.insert(from).second)
          continue;
        result.same_as = from;
        last_use[from] = last_use.contains(to) ? last_use[to] : static_cast<int>(i);
      }
    }
  }

  bool reads_once(const Step& step, int owner) const {
    return std::count_if(step.in.begin(), step.in.end(), [&](int v) { return program_.owner(v) == owner; }) ==
           1;
  }

  const Graph& graph_;
  const PlanSection& section_;
  const VariableStore& store_;
  const KernelLibrary& library_;
  bool keep_constants_;
  LoweredProgram program_;
  std::map<Symbol, int> value_of_;
  std::map<std::string, int> variables_;
  std::map<int, std::vector<int>> copies_;  // by value: its copies in other formats

  struct Use {
    int step;
    int operand;
  };
  static constexpr int kBeforeAll = -1;
  static constexpr int kNoStep = -2;
  std::vector<int> producer_;                // by value
  std::vector<std::vector<Use>> reads_;      // by owner: in order of steps
  std::vector<int> blocks_;                  // values of flat blocks of variables at the start
  std::vector<Step> first_;                  // read what variables had at the start
  std::vector<std::pair<int, Step>> later_;  // after the step of this number
};

}  // namespace

int LoweredProgram::owner(int value) const {
  while (values[static_cast<size_t>(value)].same_as >= 0) value = values[static_cast<size_t>(value)].same_as;
  return value;
}

LoweredProgram lower(const Graph& graph, const PlanSection& section, const VariableStore& store,
                     const KernelLibrary& library, bool keep_constants) {
  return Lowering(graph, section, store, library, keep_constants).run();
}

}  // namespace tpack
