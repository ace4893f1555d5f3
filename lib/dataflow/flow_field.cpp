#include "dataflow/flow_field.h"

#include <array>

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

}  // namespace tpack
