#include "data_tools/size_changes.h"

#include <string>
#include <vector>

#include "core/registry.h"
#include "dataflow/map.h"
#include "image/augment/augmentor.h"

namespace tpack {
namespace {

bool changes_size(const ConfigNode& item) {
  const Shape any{1009, 907, 3};
  const auto augmentor = Registry<Augmentor>::make_item(item);
  try {
    return augmentor->shape(any) != any;
  } catch (const ConfigError&) {  // a larger crop
    return true;
  }
}

ConfigNode those_that_keep_it(const ConfigNode& augmentors) {
  std::vector<ConfigNode> kept;
  for (const ConfigNode& item : augmentors.items())
    if (!changes_size(item)) kept.push_back(item);
  return ConfigNode::list(std::move(kept), augmentors.position());
}

}  // namespace

ConfigNode without_size_changes(const ConfigNode& components) {
  std::vector<ConfigNode> kept;
  for (const ConfigNode& component : components.items()) {
    const ComponentItem item = component_item(component, Map::kKind);
    if (item.name != "AugmentImageComponent" && item.name != "AugmentImageComponents") {
      kept.push_back(component);
      continue;
    }
    const ConfigNode* const field = item.params.find("augmentors");
    const ConfigNode own = those_that_keep_it(field == nullptr ? item.params : *field);
    if (own.size() > 0)
      kept.push_back(ConfigNode::map(
          {{item.name, field == nullptr ? own : item.params.with("augmentors", own)}}, component.position()));
  }
  return ConfigNode::list(std::move(kept), components.position());
}

}  // namespace tpack
