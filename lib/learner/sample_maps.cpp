#include "learner/sample_maps.h"

#include <map>

#include "core/registry.h"
#include "core/rng.h"
#include "core/text.h"
#include "dataflow/fitted_map.h"
#include "dataflow/stage.h"

namespace tpack {
namespace {

constexpr const char* kThreadedMap = "MultiThreadMapData";

/// The item as a map; nothing if it works on several samples.
std::optional<ComponentItem> as_map(const ConfigNode& node) {
  ComponentItem item = component_item(node, "component");
  if (Registry<Map>::table().find(item.name) != nullptr) return item;
  const ComponentInfo* stage = ComponentTable::of(Stage::kKind).find(item.name);
  if (stage == nullptr || stage->name != kThreadedMap) return std::nullopt;
  return ComponentItem{"MapData", item.params.without("num_thread"), item.position};
}

struct NamedMap {
  std::string name;  // the type in snake_case, and its number in the list
  Position position;
  std::shared_ptr<Map> map;
};

/// The maps among the components needed for `wanted`, which becomes the components needed before them.
std::vector<NamedMap> needed_maps(const ConfigNode& components, std::vector<std::string>& wanted) {
  std::vector<NamedMap> all;
  std::map<std::string, int> seen;
  for (const ConfigNode& node : components.items()) {
    const auto item = as_map(node);
    if (!item) continue;
    Diagnostics errors;
    std::shared_ptr<Map> map = Registry<Map>::make(*item, errors);
    errors.throw_if_any();
    const std::string type = snake_case(item->name);
    all.push_back({type + "_" + std::to_string(seen[type]++), item->position, std::move(map)});
  }
  for (size_t i = all.size(); i-- > 0;) {
    auto needed = all[i].map->narrow(wanted);
    if (needed) wanted = std::move(*needed);
    if (!needed) all[i].map = nullptr;
  }
  std::erase_if(all, [](const NamedMap& one) { return one.map == nullptr; });
  return all;
}

}  // namespace

ConfigNode components_of(const ConfigNode& flow, const FlowScope& flows) {
  if (flow.is_string()) return components_of(flows.at(flow.text()), flows);
  if (flow.is_map()) return components_of(*flow.find("flow"), flows);
  const ComponentItem source = component_item(flow.items()[0], Source::kKind);
  Diagnostics errors;
  const auto made = Registry<Source>::make(source, errors);
  errors.throw_if_any();
  const ConfigNode* inner = made->part<WrappingSource>().inner();
  if (inner == nullptr) return flow;
  std::vector<ConfigNode> items(flow.items().begin(), flow.items().end());
  items[0] = *inner;
  return ConfigNode::list(std::move(items), flow.position());
}

std::vector<std::string> needed_before_maps(const ConfigNode& components, std::vector<std::string> wanted) {
  needed_maps(components, wanted);
  return wanted;
}

SampleMaps::SampleMaps(const ConfigNode& components, Spec given, const FittedData& fit,
                       std::vector<std::string> wanted)
    : spec_(std::move(given)) {
  std::map<std::string, State> fits;
  for (NamedMap& one : needed_maps(components, wanted)) {
    Diagnostics errors;
    try {
      spec_ = one.map->bind(spec_);
      if (auto* fitted = dynamic_cast<FittedMap*>(one.map.get())) {
        const std::string own = fitted_name(one.name, fitted->component(), fits);
        fitted->use(fit.map(own));
        fits[own] = {};
      }
    } catch (const ConfigError& error) {
      errors.add(error, one.position);
      errors.throw_if_any();
    }
    maps_.emplace_back(stable_hash(one.name), std::move(one.map));
  }
}

void SampleMaps::apply(Datapoint& sample) const {
  for (const auto& [key, map] : maps_) {
    if (!map->apply(sample, {0, {}, key, false})) throw DataError("was dropped by a map of the flow");
  }
}

}  // namespace tpack
