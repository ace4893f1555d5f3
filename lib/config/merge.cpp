#include "config/merge.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "config/item_address.h"
#include "config/yaml_reader.h"
#include "core/text.h"

namespace tpack {
namespace {

using Path = std::vector<std::string>;

bool is_slot(const Path& path) {
  static constexpr std::array<std::string_view, 3> kSlots = {"trainer", "optimizer", "input"};
  if (path.size() == 3 && path[0] == "updates") return path[2] == "optimizer";
  return path.size() == 1 && std::find(kSlots.begin(), kSlots.end(), path[0]) != kSlots.end();
}

bool is_flow(const Path& path) { return path.size() == 2 && path[0] == "data"; }

bool is_flow_key(std::string_view key) {
  static constexpr std::array<std::string_view, 4> kKeys = {"flow", "workers", "prefetch", "on_error"};
  return std::find(kKeys.begin(), kKeys.end(), key) != kKeys.end();
}

bool has_flow_key(const ConfigNode& map) {
  const auto entries = map.entries();
  return std::any_of(entries.begin(), entries.end(), [](const auto& e) { return is_flow_key(e.key); });
}

class Merger {
 public:
  explicit Merger(Diagnostics& errors) : errors_(errors) {}

  ConfigNode merged(const ConfigNode& base, const ConfigNode& over);

 private:
  ConfigNode maps(const ConfigNode& base, const ConfigNode& over);
  void set_key(std::vector<ConfigNode::Entry>& entries, const ConfigNode::Entry& change);
  ConfigNode appended(const ConfigNode& base, const ConfigNode& over);
  ConfigNode changed_items(const ConfigNode& list, const ConfigNode& over);
  ConfigNode changed_item(const ConfigNode& item, const ConfigNode::Entry& change);
  ConfigNode flow(const ConfigNode& base, const ConfigNode& over);
  ConfigNode flow_items(const ConfigNode& list, const ConfigNode& over);
  ConfigNode slot(const ConfigNode& base, const ConfigNode& over);
  ConfigNode fresh(const ConfigNode& over);
  ConfigNode below(const std::string& word, const ConfigNode& base, const ConfigNode& over) {
    path_.push_back(word);
    ConfigNode result = merged(base, over);
    path_.pop_back();
    return result;
  }
  std::string owner() const { return path_.empty() ? "the config" : "'" + join(path_, ".") + "'"; }

  Diagnostics& errors_;
  Path path_;
};

ConfigNode Merger::merged(const ConfigNode& base, const ConfigNode& over) {
  if (over.tag() == kAppendTag) return appended(base, over);
  if (is_slot(path_)) return slot(base, over);
  if (is_flow(path_) && over.is_map() && (base.is_list() || base.is_map())) return flow(base, over);
  if (is_flow(path_) && over.is_list() && base.find("flow") != nullptr) return base.with("flow", fresh(over));
  if (base.is_map() && over.is_map()) return maps(base, over);
  if (base.is_list() && over.is_map()) return changed_items(base, over);
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

ConfigNode Merger::maps(const ConfigNode& base, const ConfigNode& over) {
  std::vector<ConfigNode::Entry> entries(base.entries().begin(), base.entries().end());
  for (const ConfigNode::Entry& change : over.entries()) set_key(entries, change);
  const bool over_has_lines = over.position().line > 0;  // unlike an option, which changes what is elsewhere
  return ConfigNode::map(std::move(entries), over_has_lines ? over.position() : base.position());
}

void Merger::set_key(std::vector<ConfigNode::Entry>& entries, const ConfigNode::Entry& change) {
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
    entries.push_back({change.key, below(change.key, {}, change.value), change.key_position});
    return;
  }
  there->value = below(change.key, there->value, change.value);
  there->key_position = change.key_position;
}

ConfigNode Merger::changed_items(const ConfigNode& list, const ConfigNode& over) {
  std::vector<ConfigNode> items(list.items().begin(), list.items().end());
  std::vector<bool> deleted(items.size(), false);
  for (const ConfigNode::Entry& change : over.entries()) {
    try {
      const size_t index = item_index(list, change.key, join(path_, "."), change.key_position);
      if (change.value.tag() == kDeleteTag) {
        deleted[index] = true;
      } else {
        items[index] = changed_item(items[index], change);
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

/// A map changes the parameters of the item; anything else takes their place (`Softmax: fc1`), or the place
/// of the item where that is not a component or is named by number, as another component does.
ConfigNode Merger::changed_item(const ConfigNode& item, const ConfigNode::Entry& change) {
  const std::string component = item_component(item);
  const ConfigNode& over = change.value;
  const bool by_number = starts_with_digit(change.key);
  const bool replaced = by_number && !over.is_map();
  if (component.empty() || replaced) return below(change.key, item, over);
  if (by_number && is_other_component(item, item_component(over))) return fresh(over);
  if (by_number && over.size() == 1 && over.entries()[0].key == component) {
    return changed_item(item, {component, over.entries()[0].value, over.entries()[0].key_position});
  }
  const ConfigNode params = item_params(item).value_or(ConfigNode());
  const Position where = item.is_map() ? item.entries()[0].key_position : item.position();
  return ConfigNode::map({{component, below(change.key, params, over), where}}, item.position());
}

ConfigNode Merger::flow(const ConfigNode& base, const ConfigNode& over) {
  if (base.is_list() && !has_flow_key(over)) return changed_items(base, over);
  ConfigNode result =
      base.is_list() ? ConfigNode::map({{"flow", base, base.position()}}, base.position()) : base;
  for (const ConfigNode::Entry& change : over.entries()) {
    const ConfigNode* list = result.find("flow");
    const bool into_list = !is_flow_key(change.key) && list != nullptr && list->is_list();
    const ConfigNode one = ConfigNode::map({change}, over.position());
    result = into_list ? result.with("flow", flow_items(*list, one)) : maps(result, one);
  }
  return result;
}

/// The items of a flow with options, which messages call `data.NAME.flow`.
ConfigNode Merger::flow_items(const ConfigNode& list, const ConfigNode& over) {
  path_.emplace_back("flow");
  ConfigNode result = changed_items(list, over);
  path_.pop_back();
  return result;
}

ConfigNode Merger::slot(const ConfigNode& base, const ConfigNode& over) {
  const std::string there = item_component(base);
  const std::string wanted = item_component(over);
  if (there.empty() || there != wanted) return fresh(over);
  if (!over.is_map()) return base;
  const ConfigNode::Entry& change = over.entries()[0];
  ConfigNode params = below(there, item_params(base).value_or(ConfigNode()), change.value);
  return ConfigNode::map({{there, std::move(params), change.key_position}}, over.position());
}

/// A value if there was none: without tags.
ConfigNode Merger::fresh(const ConfigNode& over) {
  if (over.is_map()) return maps(ConfigNode::map({}, over.position()), over);
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

ConfigNode merge(const ConfigNode& base, const ConfigNode& over, Diagnostics& errors) {
  return Merger(errors).merged(base, over);
}

}  // namespace tpack
