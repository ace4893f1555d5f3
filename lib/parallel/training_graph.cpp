#include "parallel/training_graph.h"

#include <algorithm>
#include <map>

#include "backend/passes/fuse.h"
#include "core/log.h"
#include "core/text.h"
#include "graph/passes/gradient.h"
#include "graph/passes/simplify.h"
#include "graph/structural.h"

namespace tpack {
namespace {

constexpr const char* kCost = "@cost";  // how the cost is found again after a pass

Symbol fetched(const Graph& graph, const std::string& name) {
  for (const Fetch& fetch : graph.fetches()) {
    if (fetch.name == name) return fetch.value;
  }
  return {};
}

}  // namespace

Graph backward_graph(const TowerFunction& tower, VariableTable& table, const Signature& fed, DType float_type,
                     const std::vector<std::string>& fetches) {
  const Builder::Options options{Phase::kTraining, float_type};
  Graph plain;
  {
    Builder b(plain, table, options);
    const Symbol cost = build_tower(b, tower, fed, fetches).cost;
    if (!cost)
      throw ConfigError(tower.origin(),
                        "the model has no cost; training needs at least one term in model.cost");
    plain.fetch(kCost, cost);
  }
  // Simplified before the gradient is taken: what is not computed needs no gradient.
  Graph graph = move_relu_behind_pooling(simplify(plain, Stops::kKeep));
  Builder b(graph, table, options);
  const auto variables = trainable_reads(graph, table);
  std::vector<Symbol> wrt;
  for (const auto& [spec, value] : variables) wrt.push_back(value);
  const std::vector<Symbol> found = gradients(b, fetched(graph, kCost), wrt);
  if (std::none_of(found.begin(), found.end(), [](Symbol s) { return static_cast<bool>(s); })) {
    throw ConfigError("the cost depends on no trainable variable: there is nothing to train");
  }
  for (size_t i = 0; i < wrt.size(); ++i) {
    const Symbol gradient = found[i] ? found[i] : b.constant(0, wrt[i].shape());
    b.assign(gradient_name(variables[i].first->name), gradient);
  }
  return graph;
}

Graph update_graph(const Optimizer& optimizer, VariableTable& table, DType float_type, double scale) {
  Graph graph;
  Builder b(graph, table, {Phase::kTraining, float_type});
  const Builder::Scope scope(b, "update");
  optimizer.build(b, flat_layout(table), scale);
  return graph;
}

void declare_training_variables(const TowerFunction& tower, const Optimizer& optimizer, VariableTable& table,
                                const Signature& fed, DType float_type) {
  const Graph graph = backward_graph(tower, table, fed, float_type, {});
  std::vector<std::pair<int, std::string>> finished;  // (node that ends the gradient, variable)
  for (const VariableSpec* spec : table.trainable()) {
    for (const Assignment& a : graph.assignments()) {
      if (a.variable == gradient_name(spec->name)) finished.emplace_back(a.value.node->id, spec->name);
    }
  }
  std::stable_sort(finished.begin(), finished.end());
  std::vector<std::string> order;
  for (const auto& [id, name] : finished) order.push_back(name);
  table.set_gradient_order(std::move(order));
  update_graph(optimizer, table, float_type, 1);
}

}  // namespace tpack
