#include "experiment/sample_maps.h"

#include <map>

#include "core/registry.h"
#include "core/rng.h"
#include "core/text.h"
#include "dataflow/fitted_map.h"
#include "dataflow/stage.h"

namespace tpack {
namespace {

constexpr const char* kThreadedMap = "MultiThreadMapData";

/// The item as a map; nothing for what works on many samples.
std::optional<ComponentItem> as_map(const ConfigNode& node) {
  ComponentItem item = component_item(node, "component");
  if (Registry<Map>::table().find(item.name) != nullptr) return item;
  const ComponentInfo* stage = ComponentTable::of(Stage::kKind).find(item.name);
  if (stage == nullptr || stage->name != kThreadedMap) return std::nullopt;
  return ComponentItem{"MapData", item.params.without("num_thread"), item.position};
}

}  // namespace

ConfigNode components_of(const ConfigNode& flow, const FlowScope& flows) {
  if (flow.is_string()) return components_of(flows.at(flow.text()), flows);
  if (flow.is_map()) return components_of(*flow.find("flow"), flows);
  const ComponentItem source = component_item(flow.items()[0], Source::kKind);
  Diagnostics errors;
  const auto made = Registry<Source>::make(source, errors);
  errors.throw_if_any();
  if (made->inner() == nullptr) return flow;
  std::vector<ConfigNode> items(flow.items().begin(), flow.items().end());
  items[0] = *made->inner();
  return ConfigNode::list(std::move(items), flow.position());
}

SampleMaps::SampleMaps(const ConfigNode& components, Spec given, const FittedData& fit)
    : spec_(std::move(given)) {
  std::map<std::string, int> seen;
  std::map<std::string, State> fits;
  for (const ConfigNode& node : components.items()) {
    const auto item = as_map(node);
    if (!item) continue;
    Diagnostics errors;
    std::shared_ptr<Map> map = Registry<Map>::make(*item, errors);
    errors.throw_if_any();
    spec_ = map->bind(spec_);
    const std::string stem = snake_case(item->name);
    const std::string name = stem + "_" + std::to_string(seen[stem]++);
    if (auto* fitted = dynamic_cast<FittedMap*>(map.get())) {
      try {
        const std::string own = fitted_name(name, fitted->component(), fits);
        fitted->use(fit.map(own));
        fits[own] = {};
      } catch (const ConfigError& error) {
        errors.add(error, item->position);
        errors.throw_if_any();
      }
    }
    maps_.emplace_back(stable_hash(name), std::move(map));
  }
}

void SampleMaps::apply(Datapoint& sample) const {
  for (const auto& [key, map] : maps_) {
    if (!map->apply(sample, {0, {}, key, false})) throw DataError("is dropped by a map of the flow");
  }
}

}  // namespace tpack
