#include "train/callback_list.h"

#include <cctype>

#include "core/text.h"

namespace tpack {
namespace {

/// The item of the callback that does the work: the `callback` of PeriodicTrigger and the like.
ConfigNode innermost(const ConfigNode& item) {
  const ComponentItem outer = component_item(item, Callback::kKind);
  const ComponentInfo* info = Registry<Callback>::table().find(outer.name);
  for (const FieldInfo& field : info == nullptr ? std::vector<FieldInfo>{} : info->fields()) {
    if (!field.type.is_component(Callback::kKind)) continue;
    if (const ConfigNode* inner = outer.params.find(field.name)) return innermost(*inner);
  }
  return item;
}

/// For the name of an entry in checkpoints.
std::string name_of_entry(std::string text) {
  for (char& c : text) {
    const bool is_plain =
        std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-' || c == '.';
    if (!is_plain) c = '-';
  }
  return text;
}

}  // namespace

std::string type_of_callback(const ConfigNode& item) {
  try {
    const ComponentItem inner = component_item(innermost(item), Callback::kKind);
    const ComponentInfo* info = Registry<Callback>::table().find(inner.name);
    return info == nullptr ? "" : info->name;
  } catch (const ConfigError&) {
    return "";  // reported when it is made
  }
}

void CallbackList::add(const Slot<Callback>& slot, Diagnostics& errors) {
  auto callback = Registry<Callback>::make(slot.item, errors);
  if (!callback) return;
  const ComponentItem item = component_item(slot.item, Callback::kKind);
  const std::string type = type_of_callback(slot.item);
  const std::string& identity = callback->rules().identity;
  std::string name = snake_case(type) + (identity.empty() ? "" : "_" + name_of_entry(identity));
  const int number = counts_[name]++;
  if (callback->rules().only_one && number > 0) {
    errors.add(item.position, "duplicate callback " + type +
                                  (identity.empty() ? "" : " of '" + identity + "'") + "; keep one of them");
  } else {
    check_files(*callback, item, errors);
  }
  if (identity.empty() || number > 0) name += "_" + std::to_string(number);
  callbacks_.push_back({name, std::move(callback), item.position});
}

void CallbackList::check_files(const Callback& callback, const ComponentItem& item, Diagnostics& errors) {
  for (const std::string& file : checkpoints_of(callback)) {
    if (!files_.insert(file).second)
      errors.add(item.position,
                 "callback " + item.name + " writes checkpoints/" + file +
                     ", and so does an earlier one; keep one of them, or change 'file' of one");
  }
}

}  // namespace tpack
