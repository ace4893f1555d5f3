#include "config/merge.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "config/item_address.h"
#include "config/yaml_reader.h"
#include "core/text.h"

namespace tpack {
namespace {

/// True if a map sets fields of a section, not items of its list.
bool has_field(const ConfigNode& map, const FieldType& section) {
  const auto entries = map.entries();
  return std::any_of(entries.begin(), entries.end(),
                     [&](const auto& e) { return field_named(section, e.key) != nullptr; });
}

class Merger {
 public:
  explicit Merger(Diagnostics& errors) : errors_(errors) {}

  ConfigNode merged(const ConfigNode& base, const ConfigNode& over, const FieldType& type);

 private:
  ConfigNode maps(const ConfigNode& base, const ConfigNode& over, const FieldType& form);
  void set_key(std::vector<ConfigNode::Entry>& entries, const ConfigNode::Entry& change,
               const FieldType& form);
  ConfigNode appended(const ConfigNode& base, const ConfigNode& over);
  ConfigNode changed_items(const ConfigNode& list, const ConfigNode& over, const FieldType& form);
  ConfigNode changed_item(const ConfigNode& item, const ConfigNode::Entry& change, const FieldType& type);
  ConfigNode section(const ConfigNode& base, const ConfigNode& over, const FieldType& type);
  ConfigNode slot(const ConfigNode& base, const ConfigNode& over, const FieldType& type);
  ConfigNode fresh(const ConfigNode& over);
  ConfigNode below(const std::string& word, const ConfigNode& base, const ConfigNode& over,
                   const FieldType& type) {
    path_.push_back(word);
    ConfigNode result = merged(base, over, type);
    path_.pop_back();
    return result;
  }
  std::string owner() const { return path_.empty() ? "the config" : "'" + join(path_, ".") + "'"; }

  Diagnostics& errors_;
  std::vector<std::string> path_;
};

ConfigNode Merger::merged(const ConfigNode& base, const ConfigNode& over, const FieldType& type) {
  const FieldType chosen = type.base == FieldType::Base::kEither ? form_of(type, base) : type;
  if (chosen.base == FieldType::Base::kSection && !chosen.shorthand.empty() && !base.is_null())
    return section(base, over, chosen);
  if (over.tag() == kAppendTag) return appended(base, over);
  if (chosen.base == FieldType::Base::kComponent) return slot(base, over, chosen);
  if (base.is_map() && over.is_map()) return maps(base, over, chosen);
  if (base.is_list() && over.is_map()) return changed_items(base, over, chosen);
  return fresh(over);
}

ConfigNode Merger::appended(const ConfigNode& base, const ConfigNode& over) {
  ConfigNode added = fresh(over);
  if (base.is_null()) return added;
  if (!base.is_list()) {
    errors_.add(over.position(), "'!append' needs a list in " + owner() + ", found " + base.describe());
    return base;
  }
  std::vector<ConfigNode> items(base.items().begin(), base.items().end());
  items.insert(items.end(), added.items().begin(), added.items().end());
  return ConfigNode::list(std::move(items), over.position());
}

ConfigNode Merger::maps(const ConfigNode& base, const ConfigNode& over, const FieldType& form) {
  if (form.base == FieldType::Base::kMap && over.size() == 0 && base.size() > 0) {
    errors_.add(over.position(), "an empty map changes nothing in " + owner() +
                                     ", because maps are merged; use '!delete' to remove it");
  }
  std::vector<ConfigNode::Entry> entries(base.entries().begin(), base.entries().end());
  for (const ConfigNode::Entry& change : over.entries()) set_key(entries, change, form);
  const bool over_has_lines =
      over.position().line > 0;  // unlike an option, which changes a value from a file
  return ConfigNode::map(std::move(entries), over_has_lines ? over.position() : base.position());
}

void Merger::set_key(std::vector<ConfigNode::Entry>& entries, const ConfigNode::Entry& change,
                     const FieldType& form) {
  const auto there =
      std::find_if(entries.begin(), entries.end(), [&](const auto& e) { return e.key == change.key; });
  if (change.value.tag() == kDeleteTag) {
    if (there != entries.end()) {
      entries.erase(there);
      return;
    }
    std::vector<std::string> keys;
    for (const ConfigNode::Entry& entry : entries) keys.push_back(entry.key);
    errors_.add(change.key_position, "nothing to delete: " + owner() + " has no '" + change.key + "'" +
                                         did_you_mean(change.key, keys));
    return;
  }
  if (there == entries.end()) {
    entries.push_back({change.key, below(change.key, {}, change.value, {}), change.key_position});
    return;
  }
  there->value = below(change.key, there->value, change.value, type_below(form, change.key));
  there->key_position = change.key_position;
}

ConfigNode Merger::changed_items(const ConfigNode& list, const ConfigNode& over, const FieldType& form) {
  std::vector<ConfigNode> items(list.items().begin(), list.items().end());
  std::vector<bool> deleted(items.size(), false);
  for (const ConfigNode::Entry& change : over.entries()) {
    try {
      const size_t index = item_index(list, change.key, join(path_, "."), change.key_position);
      if (change.value.tag() == kDeleteTag) {
        deleted[index] = true;
      } else {
        items[index] = changed_item(items[index], change, type_below(form, change.key));
      }
    } catch (const ConfigError& error) {
      errors_.add(error, change.key_position);
    }
  }
  std::vector<ConfigNode> kept;
  for (size_t i = 0; i < items.size(); ++i) {
    if (!deleted[i]) kept.push_back(items[i]);
  }
  return ConfigNode::list(std::move(kept), list.position());
}

/// A map changes the parameters of the item; anything else replaces them (`Softmax: fc1`), or replaces the
/// item if it is not a component or is addressed by number. Another component also replaces the item.
ConfigNode Merger::changed_item(const ConfigNode& item, const ConfigNode::Entry& change,
                                const FieldType& type) {
  const std::string component = item_component(item);
  const ConfigNode& over = change.value;
  const bool by_number = starts_with_digit(change.key);
  const bool replaced = by_number && !over.is_map();
  if (component.empty() || replaced) return below(change.key, item, over, replaced ? FieldType{} : type);
  if (by_number && is_other_component(item, item_component(over))) return fresh(over);
  if (by_number && over.size() == 1 && over.entries()[0].key == component) {
    return changed_item(item, {component, over.entries()[0].value, over.entries()[0].key_position}, type);
  }
  const ConfigNode params = item_params(item).value_or(ConfigNode());
  const Position where = item.is_map() ? item.entries()[0].key_position : item.position();
  return ConfigNode::map({{component, below(change.key, params, over, type_below(type, component)), where}},
                         item.position());
}

/// `type` can be written as its list: changes apply to the list unless they set its other fields.
ConfigNode Merger::section(const ConfigNode& base, const ConfigNode& over, const FieldType& type) {
  const FieldType list_type = field_named(type, type.shorthand)->type;
  const bool says_settings = over.is_map() && has_field(over, type);
  if (!base.is_map() && !says_settings) return merged(base, over, list_type);
  if (!over.is_map()) {
    const bool takes_list = over.is_list() && base.find(type.shorthand) != nullptr;
    const ConfigNode list = takes_list ? *base.find(type.shorthand) : ConfigNode();
    return takes_list ? base.with(type.shorthand, below(type.shorthand, list, over, list_type)) : fresh(over);
  }
  ConfigNode result =
      base.is_map() ? base : ConfigNode::map({{type.shorthand, base, base.position()}}, base.position());
  for (const ConfigNode::Entry& change : over.entries()) {
    const ConfigNode* list = shorthand_list(type, result);
    const bool into_list = field_named(type, change.key) == nullptr && list != nullptr;
    const ConfigNode one = ConfigNode::map({change}, over.position());
    result = into_list ? result.with(type.shorthand, below(type.shorthand, *list, one, list_type))
                       : maps(result, one, type);
  }
  return result;
}

ConfigNode Merger::slot(const ConfigNode& base, const ConfigNode& over, const FieldType& type) {
  const std::string there = item_component(base);
  const std::string wanted = item_component(over);
  if (there.empty() || there != wanted) return fresh(over);
  if (!over.is_map()) return base;
  const ConfigNode::Entry& change = over.entries()[0];
  const ConfigNode params = item_params(base).value_or(ConfigNode());
  return ConfigNode::map(
      {{there, below(there, params, change.value, type_below(type, there)), change.key_position}},
      over.position());
}

/// A new value, without tags.
ConfigNode Merger::fresh(const ConfigNode& over) {
  if (over.is_map()) return maps(ConfigNode::map({}, over.position()), over, {});
  if (over.tag() == kDeleteTag) {
    errors_.add(over.position(), "nothing to delete in " + owner());
    return {};
  }
  if (!over.is_list()) return over;
  std::vector<ConfigNode> items;
  for (const ConfigNode& item : over.items()) items.push_back(fresh(item));
  return ConfigNode::list(std::move(items), over.position());
}

}  // namespace

ConfigNode merge(const ConfigNode& base, const ConfigNode& over, const FieldType& structure,
                 Diagnostics& errors) {
  return Merger(errors).merged(base, over, structure);
}

}  // namespace tpack
