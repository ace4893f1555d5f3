#include "dataflow/flow_field.h"

#include <algorithm>
#include <array>
#include <set>

#include "core/registry.h"
#include "dataflow/map.h"
#include "dataflow/source.h"
#include "dataflow/stage.h"

namespace tpack {
namespace {

ConfigNode effective_component(const ConfigNode& item) {
  const ComponentItem parsed = component_item(item, "component");
  const char* kind = kind_of_flow_component(parsed.name);
  return kind == nullptr ? item : effective_item(kind, item);
}

}  // namespace

const char* kind_of_flow_component(const std::string& name) {
  for (const char* kind : std::array{Source::kKind, Map::kKind, Stage::kKind}) {
    if (ComponentTable::of(kind).find(name) != nullptr) return kind;
  }
  return nullptr;
}

std::optional<FlowField> Codec<FlowField>::parse(const ConfigNode& node, Reader& reader) {
  if (node.is_list() || node.is_string() || (node.is_map() && node.find("flow") != nullptr)) {
    return FlowField{node};
  }
  reader.wrong_type(node, "a list of components, {flow: [...]}, or the name of a flow");
  return std::nullopt;
}

ConfigNode Codec<FlowField>::dump(const FlowField& field) {
  const ConfigNode& node = field.node;
  if (node.is_map()) return node.with("flow", dump(FlowField{*node.find("flow")}));
  if (!node.is_list()) return node;
  std::vector<ConfigNode> items;
  for (const ConfigNode& item : node.items()) {
    items.push_back(effective_component(item));
  }
  return ConfigNode::list(std::move(items), node.position());
}

namespace {

/// The sources that are made of flows.
constexpr std::array kSourcesOfFlows = {"JoinData", "ConcatData", "RandomMixData", "RandomChooseData"};

void add_named(const ConfigNode& flow, std::set<std::string>& names) {
  if (flow.is_string()) names.insert(flow.text());
  if (flow.is_list())
    for (const ConfigNode& item : flow.items())
      if (item.is_map()) add_named(item, names);
  if (!flow.is_map()) return;
  if (const ConfigNode* inner = flow.find("flow")) add_named(*inner, names);
  for (const char* source : kSourcesOfFlows) {
    const ConfigNode* parts = flow.find(source);
    if (parts != nullptr && parts->is_map()) parts = parts->find("flows");
    if (parts != nullptr && parts->is_list())
      for (const ConfigNode& part : parts->items()) add_named(part, names);
  }
}

}  // namespace

std::set<std::string> flows_named_in(const ConfigNode& flow) {
  std::set<std::string> names;
  add_named(flow, names);
  return names;
}

std::vector<std::string> whole_flows(const FlowScope& flows) {
  std::set<std::string> parts;
  for (const auto& [name, flow] : flows) parts.merge(flows_named_in(flow));
  std::vector<std::string> whole;
  for (const auto& [name, flow] : flows)
    if (!parts.contains(name)) whole.push_back(name);
  const auto train = std::find(whole.begin(), whole.end(), "train");
  if (train != whole.end()) std::rotate(whole.begin(), train, train + 1);
  return whole;
}

}  // namespace tpack
