#include "optim/training_graph.h"

#include <algorithm>
#include <map>
#include <set>

#include "backend/passes/passes.h"
#include "core/text.h"
#include "graph/passes/gradient.h"
#include "graph/passes/rewrite.h"
#include "graph/passes/simplify.h"
#include "graph/structural.h"
#include "graph/tower_description.h"
#include "graph/variable_pattern.h"

namespace tpack {
namespace {

constexpr const char* kCostFetch = "@cost";  // to find the cost again after a pass

Symbol fetched(const Graph& graph, const std::string& name) {
  for (const Fetch& fetch : graph.fetches()) {
    if (fetch.name == name) return fetch.value;
  }
  return {};
}

bool is_gradient(const std::string& variable) { return variable.starts_with(gradient_name("")); }

/// "update g: " if there are several.
std::string in_update(const Update& update) {
  return update.name.empty() ? "" : "update " + update.name + ": ";
}

/// The gradient of a variable that the cost does not depend on.
bool is_zero(const Node& node) {
  const auto* constant = op_cast<Constant>(node);
  return constant != nullptr && constant->params().value == 0;
}

/// Each gradient is added to its variable as soon as it is computed.
Graph added_to_gradients(const Graph& graph, VariableTable& table, const Builder::Options& options) {
  std::multimap<const Node*, const Assignment*> gradients;
  for (const Assignment& a : graph.assignments()) {
    if (is_gradient(a.variable)) gradients.emplace(a.value.node, &a);
  }
  std::map<std::string, Symbol> sums;
  const auto rule = [&](Graph& out, const Node& node,
                        std::span<const Symbol> inputs) -> std::optional<std::vector<Symbol>> {
    const auto [begin, end] = gradients.equal_range(&node);
    if (begin == end) return std::nullopt;
    const Node& copy = out.add(node.op, {inputs.begin(), inputs.end()}, node.path, node.origin);
    Builder b(out, table, options);
    for (auto at = begin; at != end; ++at) {
      const auto& [variable, value] = *at->second;
      const Builder::NameScope scope(b, variable, node.origin);
      // In a shape that no variable has, it is a sweep of its own: those before it keep their bits.
      const Shape apart{1, 1, value.shape().elements()};
      const Symbol before = b.reshape(b.read(variable, value.spec()), apart);
      sums[variable] = b.reshape(b.add(before, b.reshape(copy.out(value.output), apart)), value.shape());
    }
    std::vector<Symbol> outputs;
    for (size_t i = 0; i < copy.outputs.size(); ++i) outputs.push_back(copy.out(static_cast<int>(i)));
    return outputs;
  };
  Graph added = rewrite(graph, rule);
  added.keep_assignments([&](const Assignment& a) { return !sums.contains(a.variable); });
  for (const auto& [variable, sum] : sums) added.assign(variable, sum);
  return added;
}

Symbol cost_of(const Update& update, const TowerFunction& tower, const TowerResult& result) {
  const auto found = result.costs.find(update.cost.name);
  if (found != result.costs.end()) return found->second;
  if (update.name.empty()) {
    throw ConfigError(tower.origin(),
                      "the model has no cost; training needs at least one term in model.cost");
  }
  std::vector<std::string> known;
  for (const auto& [name, value] : result.costs) known.push_back(name);
  throw unknown_reference("cost", update.cost.name, update.cost.position, known);
}

}  // namespace

TrainingGraphs::TrainingGraphs(const TowerFunction& tower, std::span<const Update> updates)
    : tower_(tower), updates_(updates) {
  TPACK_ASSERT(!updates.empty(), "training needs an update");
}

Graph TrainingGraphs::backward(size_t index, VariableTable& table, const Signature& fed, DType float_type,
                               const std::vector<std::string>& fetches, Averages averages) const {
  const Update& update = updates_[index];
  const Builder::Options options{Phase::kTraining, float_type};
  Graph plain;
  {
    Builder b(plain, table, options);
    const auto wanted = [&](const Statistic& statistic) { return update_of(statistic) == index; };
    const auto outputs = index == 0 ? fetches : std::vector<std::string>();
    const TowerResult result = build_tower(b, tower_, fed, outputs, wanted);
    Symbol cost = cost_of(update, tower_, result);
    if (nominal_) {
      const Symbol weight = weight_of(b, index, result, fed);
      b.fetch(kBatchWeight, weight);
      cost = b.mul(cost, weight);
    }
    plain.fetch(kCostFetch, cost);
  }
  plain.keep_assignments([&](const Assignment& a) {
    const bool is_local = table.find(a.variable)->scope == VariableScope::kLocal;
    return (averages == Averages::kMove || is_local) && moves_in(index, a.variable, table);
  });
  // Simplified before the gradient, because removed nodes need no gradient.
  Graph graph = move_relu_after_pooling(simplify(plain, Stops::kKeep));
  Builder b(graph, table, options);
  std::vector<const VariableSpec*> trained;
  std::vector<Symbol> wrt;
  for (const auto& [spec, value] : trainable_reads(graph, table)) {
    if (!update.selects(spec->name)) continue;
    trained.push_back(spec);
    wrt.push_back(value);
  }
  require_same_variables(index, trained);
  const std::vector<Symbol> found = gradients(b, fetched(graph, kCostFetch), wrt);
  if (std::none_of(found.begin(), found.end(), [](Symbol s) { return static_cast<bool>(s); })) {
    std::string which = update.variables.empty() ? "" : " that it selects";
    if (!update.frozen.empty())
      which += std::string(which.empty() ? "" : " and") + " that is not in `freeze`";
    throw ConfigError(update.position,
                      in_update(update) + "the cost does not depend on any trainable variable" + which);
  }
  for (size_t i = 0; i < wrt.size(); ++i) {
    const Symbol gradient = found[i] ? found[i] : b.constant(0, wrt[i].shape());
    b.assign(gradient_name(trained[i]->name), gradient);
  }
  if (adds_) return added_to_gradients(graph, table, options);
  return graph;
}

/// []: 1 for a full batch where all losses count.
Symbol TrainingGraphs::weight_of(Builder& b, size_t update, const TowerResult& result,
                                 const Signature& fed) const {
  const bool has_samples = tower_.inputs().front().batched;
  const double size =
      has_samples ? static_cast<double>(fed.front().shape[0]) / static_cast<double>(*nominal_) : 1;
  const auto counted = result.counted.find(updates_[update].cost.name);
  return counted == result.counted.end() ? b.constant(size) : b.stop_gradient(b.mul(counted->second, size));
}

/// A tower must train the same variables each time it is built.
void TrainingGraphs::require_same_variables(size_t index,
                                            const std::vector<const VariableSpec*>& trained) const {
  if (trained_.empty()) return;
  std::set<std::string> missing = trained_[index];
  for (const VariableSpec* spec : trained) missing.erase(spec->name);
  if (missing.empty()) return;
  throw ConfigError(
      tower_.origin(),
      in_update(updates_[index]) + "the model does not use variable " + *missing.begin() +
          " each time it is built; it must have the same variables for any sizes of its inputs");
}

Graph TrainingGraphs::update(size_t index, VariableTable& table, DType float_type, double scale) const {
  const Update& update = updates_[index];
  const std::vector<ParameterGroup> groups = table.groups();
  Graph graph;
  Builder b(graph, table, {Phase::kTraining, float_type});
  const Builder::NameScope scope(b, update.program_name("update"));
  update.optimizer->build(b, group_of(index, groups), scale, samples_);
  return graph;
}

Graph TrainingGraphs::largest_gradient(size_t index, VariableTable& table, DType float_type) const {
  const std::vector<ParameterGroup> groups = table.groups();
  const ParameterGroup& group = group_of(index, groups);
  Graph graph;
  Builder b(graph, table, {Phase::kTraining, float_type});
  const TensorSpec block{float_type, {flat_layout(table, group).size}};
  b.fetch("largest", b.reduce_max(b.abs(b.read(FlatBlock{kGradient, group.name}.name(), block))));
  return graph;
}

const ParameterGroup& TrainingGraphs::group_of(size_t index, std::span<const ParameterGroup> groups) const {
  const std::string& name = updates_[index].name;
  const auto group = std::ranges::find(groups, name, &ParameterGroup::name);
  TPACK_ASSERT(group != groups.end(), "update '" + name + "' has no group");
  return *group;
}

size_t TrainingGraphs::update_of(const Statistic& statistic) const {
  for (size_t i = 0; i < updates_.size(); ++i) {
    if (!statistic.cost.empty() && updates_[i].cost.name == statistic.cost) return i;
  }
  return 0;
}

/// A moving average belongs to the layer whose variables are nearest.
bool TrainingGraphs::moves_in(size_t index, const std::string& variable, const VariableTable& table) const {
  if (trains_all()) return true;
  std::string scope = variable;
  while (!scope.empty()) {
    const size_t slash = scope.rfind('/');
    scope = slash == std::string::npos ? "" : scope.substr(0, slash);
    bool any = false;
    size_t first = updates_.size();
    for (const VariableSpec* spec : table.trainable()) {
      if (!scope.empty() && !spec->name.starts_with(scope + "/")) continue;
      any = true;
      for (size_t i = 0; i < first; ++i) {
        if (updates_[i].selects(spec->name)) first = i;
      }
    }
    if (any) return first == index;
  }
  return index == 0;  // for a tower without trainable variables; its trainer reports it
}

std::vector<std::string> TrainingGraphs::moved_in(size_t update, const VariableTable& table) const {
  std::vector<std::string> names;
  for (const VariableSpec* spec : table.all()) {
    const bool may_move =
        spec->scope == VariableScope::kLocal || (spec->scope == VariableScope::kModel && !spec->trainable);
    if (may_move && moves_in(update, spec->name, table)) names.push_back(spec->name);
  }
  return names;
}

/// The selected variables in the order in which `graph` finishes their gradients; those that the cost does
/// not read come last.
ParameterGroup TrainingGraphs::trained_by(size_t index, const VariableTable& table,
                                          const Graph& graph) const {
  std::vector<std::pair<int, std::string>> finished;  // (node that ends the gradient, variable)
  std::vector<std::string> unread;
  std::map<std::string, const Node*> gradients;  // by variable of the gradient
  for (const Assignment& a : graph.assignments()) gradients[a.variable] = a.value.node;
  ParameterGroup group{updates_[index].name, {}};
  for (const VariableSpec* spec : table.trainable()) {
    if (!updates_[index].selects(spec->name)) continue;
    const auto found = gradients.find(gradient_name(spec->name));
    if (found == gradients.end()) {
      unread.push_back(spec->name);
    } else {
      finished.emplace_back(found->second->id, spec->name);
      if (is_zero(*found->second)) group.unreached.push_back(spec->name);
    }
  }
  std::stable_sort(finished.begin(), finished.end());
  for (const auto& [id, name] : finished) group.variables.push_back(name);
  group.variables.insert(group.variables.end(), unread.begin(), unread.end());
  group.unreached.insert(group.unreached.end(), unread.begin(), unread.end());
  return group;
}

void TrainingGraphs::check_patterns(const VariableTable& table) const {
  Diagnostics errors;
  std::vector<std::string> known;
  for (const VariableSpec* spec : table.trainable()) known.push_back(spec->name);
  const auto check = [&](const std::vector<Ref<VariablePattern>>& patterns, const std::string& who) {
    tpack::check_patterns(patterns, known, "trainable variable", errors, who);
  };
  for (const Update& update : updates_) {
    check(update.variables, in_update(update));
    check(update.frozen, "'freeze': ");  // the same for all updates
  }
  errors.throw_if_any();
}

void TrainingGraphs::declare(VariableTable& table, const Signature& fed, DType float_type, double samples) {
  samples_ = samples;
  if (!trains_all()) {
    table.freeze(  // `frozen` is the same for all updates
        [frozen = updates_[0].frozen](const std::string& name) { return is_for_variable(frozen, name); },
        [updates = updates_](const std::string& name) {
          return std::ranges::none_of(updates, [&](const Update& update) { return update.selects(name); });
        });
    // Which variables there are, before anybody selects some.
    const TowerDescription& tower = tower_.description({Phase::kTraining, float_type}, fed);
    for (const VariableSpec* variable : tower.variables().all()) table.declare(*variable);
  }
  check_patterns(table);
  std::vector<ParameterGroup> groups;
  std::map<std::string, std::string> owners;  // update by variable
  Diagnostics errors;
  std::vector<std::set<std::string>> trained(updates_.size());
  for (size_t i = 0; i < updates_.size(); ++i) {
    const Graph graph = backward(i, table, fed, float_type);
    for (const auto& [spec, value] : trainable_reads(graph, table)) {
      if (updates_[i].selects(spec->name)) trained[i].insert(spec->name);
    }
    groups.push_back(trained_by(i, table, graph));
    for (const std::string& name : groups.back().variables) {
      const auto [owner, is_new] = owners.emplace(name, updates_[i].name);
      if (is_new) continue;
      errors.add(updates_[i].position, in_update(updates_[i]) + "variable '" + name +
                                           "' is also trained by update " + owner->second +
                                           "; choose the variables of each update with `variables`");
      break;
    }
  }
  errors.throw_if_any();
  table.set_groups(std::move(groups));
  for (size_t i = 0; i < updates_.size(); ++i) update(i, table, float_type, 1);
  trained_ = std::move(trained);
  table.close();
}

}  // namespace tpack
