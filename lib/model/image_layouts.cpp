#include "model/image_layouts.h"

namespace tpack {

ConfigNode with_image_layouts(const ConfigNode& section,
                              const std::function<bool(const std::string&)>& is_image) {
  const ConfigNode* inputs = section.is_map() ? section.find("inputs") : nullptr;
  if (inputs == nullptr || !inputs->is_map()) return section;
  const ConfigNode* feed = section.find("feed");
  ConfigNode filled = *inputs;
  for (const ConfigNode::Entry& entry : inputs->entries()) {
    const ConfigNode* component = feed != nullptr && feed->is_map() ? feed->find(entry.key) : nullptr;
    const bool named = component != nullptr && component->is_string();
    const ConfigNode* shape = entry.value.is_map() ? entry.value.find("shape") : nullptr;
    const bool may_be_image = shape != nullptr && (!shape->is_list() || shape->size() == 3);
    if (!may_be_image || entry.value.find("layout") != nullptr) continue;
    if (!is_image(named ? component->text() : entry.key)) continue;
    filled =
        filled.with(entry.key, entry.value.with("layout", ConfigNode::string("HWC", entry.value.position())));
  }
  return section.with("inputs", std::move(filled));
}

}  // namespace tpack
