#include "experiment/declared_data.h"

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "core/registry.h"
#include "dataflow/stage.h"
#include "learner/sample_maps.h"

namespace tpack {
namespace {

/// The last item that makes batches.
std::optional<ConfigNode> batch_item(const ConfigNode& list) {
  std::optional<ConfigNode> found;
  for (const ConfigNode& item : list.items()) {
    const ComponentInfo* info = Registry<Stage>::table().find(component_item(item, "component").name);
    if (info != nullptr && info->name == "BatchData") found = item;
  }
  return found;
}

ConfigNode fake_source(const std::vector<TowerInput>& inputs) {
  std::vector<ConfigNode> shapes;
  std::vector<ConfigNode> types;
  std::vector<ConfigNode> names;
  std::set<std::string> components;
  for (const TowerInput& input : inputs) {
    if (!components.insert(input.component).second) continue;
    std::vector<ConfigNode> sizes(input.spec.shape.sizes().begin(), input.spec.shape.sizes().end());
    shapes.push_back(ConfigNode::list(std::move(sizes)));
    types.emplace_back(name_of(input.spec.dtype));
    names.emplace_back(input.component);
  }
  return {{"FakeData", ConfigNode{{"shapes", ConfigNode::list(std::move(shapes))},
                                  {"dtype", ConfigNode::list(std::move(types))},
                                  {"names", ConfigNode::list(std::move(names))}}}};
}

}  // namespace

std::optional<DataFlow> declared_train_flow(const Experiment& experiment) {
  if (!experiment.tower) return std::nullopt;
  const std::vector<TowerInput>& inputs = experiment.tower->inputs();
  for (const TowerInput& input : inputs) {
    if (!input.batched || !input.spec.shape.known()) return std::nullopt;
  }
  const ConfigNode& train = experiment.config.data.at("train");
  const auto batch = batch_item(components_of(train, experiment.config.data));
  if (!batch) return std::nullopt;
  const DataFlow made = make_flow(ConfigNode::list({fake_source(inputs), *batch}));
  return DataFlow({made.flow(), made.parts()}, experiment.train_flow()->settings(),
                  std::make_shared<BadSamples>(), experiment.train_flow()->origin());
}

}  // namespace tpack
