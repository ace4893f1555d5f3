#include "run/config_changes.h"

#include <algorithm>
#include <array>
#include <optional>

#include <nlohmann/json.hpp>

#include "core/error.h"
#include "core/text.h"

namespace tpack {
namespace {

std::string one_line(const ConfigNode& node) {
  std::vector<std::string> parts;
  if (node.is_null()) return "null";
  if (node.is_map()) {
    for (const ConfigNode::Entry& entry : node.entries())
      parts.push_back(entry.key + ": " + one_line(entry.value));
    return "{" + join(parts, ", ") + "}";
  }
  if (!node.is_list()) return node.text();
  for (const ConfigNode& item : node.items()) parts.push_back(one_line(item));
  return "[" + join(parts, ", ") + "]";
}

/// "{GlobalNormClip: {norm: 1}}", truncated if it is long.
std::string described(const ConfigNode* node) {
  constexpr size_t kMax = 60;
  if (node == nullptr) return "not set";
  const std::string text = one_line(*node);
  return text.size() <= kMax ? text : text.substr(0, kMax) + "...";
}

bool is_component(const ConfigNode& item) {
  return item.is_map() ? item.entries().size() == 1 : item.is_scalar() && !item.is_null();
}

bool are_components(const ConfigNode& list) {
  return std::all_of(list.items().begin(), list.items().end(), is_component);
}

void compare_items(const ConfigNode* before, const ConfigNode* now, const std::string& path,
                   std::vector<std::string>& changes);

void compare(const ConfigNode* before, const ConfigNode* now, const std::string& path,
             std::vector<std::string>& changes) {
  if (before == nullptr && now == nullptr) return;
  const bool both = before != nullptr && now != nullptr;
  const bool maps = both && before->is_map() && now->is_map();
  const bool lists = both && before->is_list() && now->is_list();
  if (maps) {
    for (const ConfigNode::Entry& entry : before->entries())
      compare(&entry.value, now->find(entry.key), path + "." + entry.key, changes);
    for (const ConfigNode::Entry& entry : now->entries()) {
      if (before->find(entry.key) == nullptr) compare(nullptr, &entry.value, path + "." + entry.key, changes);
    }
  } else if (lists && before->size() == now->size()) {
    for (size_t i = 0; i < now->size(); ++i)
      compare(&before->items()[i], &now->items()[i], path + "." + std::to_string(i), changes);
  } else if (lists && are_components(*before) && are_components(*now)) {
    compare_items(before, now, path, changes);
  } else if (described(before) != described(now) || (now != nullptr && !before->same_value(*now))) {
    changes.push_back(path + " was " + described(before) + ", is " + described(now));
  }
}

/// Sections that are lists of components are compared as lists: inserting an item does not change the items
/// after it.
void compare_items(const ConfigNode* before, const ConfigNode* now, const std::string& path,
                   std::vector<std::string>& changes) {
  const bool lists = before != nullptr && now != nullptr && before->is_list() && now->is_list();
  if (!lists) return compare(before, now, path, changes);
  std::vector<const ConfigNode*> gone, added, kept;
  for (const ConfigNode& item : before->items()) gone.push_back(&item);
  for (const ConfigNode& item : now->items()) {
    const auto found = std::find_if(gone.begin(), gone.end(),
                                    [&](const ConfigNode* other) { return other->same_value(item); });
    if (found == gone.end()) {
      added.push_back(&item);
    } else {
      kept.push_back(*found);
      gone.erase(found);
    }
  }
  for (const ConfigNode* item : added) {
    const std::string name = component_item(*item, "component").name;
    const auto earlier = std::find_if(gone.begin(), gone.end(), [&](const ConfigNode* other) {
      return component_item(*other, "component").name == name;
    });
    if (earlier == gone.end()) {
      changes.push_back(path + " now has " + name);
    } else {
      compare(*earlier, item, path, changes);
      gone.erase(earlier);
    }
  }
  for (const ConfigNode* item : gone)
    changes.push_back(path + " no longer has " + component_item(*item, "component").name);
  if (!std::is_sorted(kept.begin(), kept.end())) changes.push_back(path + " is in a different order");
}

bool is_compared(const std::string& section) {
  static constexpr std::array kNot = {"tpack", "name", "max_epoch", "vars"};
  return std::find(kNot.begin(), kNot.end(), section) == kNot.end();
}

/// The name of the one component of a slot; "none" if there is none.
std::string component_of(const ConfigNode* slot) {
  if (slot == nullptr || slot->is_null()) return "none";
  return component_item(*slot, "component").name;
}

/// The settings of the SplitData at the beginning of a flow, except its source; empty without SplitData.
std::optional<ConfigNode> split_of(const ConfigNode& flow) {
  const ConfigNode* list = flow.is_map() ? flow.find("flow") : &flow;
  if (list == nullptr || !list->is_list() || list->size() == 0) return std::nullopt;
  const ComponentItem source = component_item(list->items()[0], "source");
  if (source.name != "SplitData") return std::nullopt;
  return source.params.without("source");
}

/// Names of the updates, in order.
std::vector<std::string> updates_of(const ConfigNode& config) {
  std::vector<std::string> names;
  const ConfigNode* updates = config.find("updates");
  if (updates == nullptr) return names;
  for (const ConfigNode::Entry& update : updates->entries()) names.push_back(update.key);
  return names;
}

/// The optimizers of the model: "optimizer Adam", or "updates d with Adam, g with SGD", sorted.
std::string optimizers_of(const ConfigNode& config) {
  const ConfigNode* updates = config.find("updates");
  if (updates == nullptr || updates->size() == 0)
    return "optimizer " + component_of(config.find("optimizer"));
  std::vector<std::string> all;
  for (const ConfigNode::Entry& update : updates->entries())
    all.push_back(update.key + " with " + component_of(update.value.find("optimizer")));
  std::sort(all.begin(), all.end());
  return "updates " + join(all, ", ");
}

}  // namespace

std::vector<std::string> config_changes(const ConfigNode& checkpoint, const ConfigNode& run,
                                        const Position& optimizer) {
  const std::string before = optimizers_of(checkpoint);
  const std::string now = optimizers_of(run);
  if (before != now) {
    throw ConfigError(optimizer, "the checkpoint was made with " + before + ", but this run has " + now +
                                     "; resume with the same, or start a new run with these weights (init)");
  }
  std::vector<std::string> changes;
  const std::vector<std::string> order = updates_of(checkpoint);
  if (order != updates_of(run))
    changes.push_back("updates were in the order " + join(order, ", ") + ", now they are in the order " +
                      join(updates_of(run), ", "));
  for (const ConfigNode::Entry& entry : run.entries()) {
    if (is_compared(entry.key)) compare_items(checkpoint.find(entry.key), &entry.value, entry.key, changes);
  }
  for (const ConfigNode::Entry& entry : checkpoint.entries()) {
    if (is_compared(entry.key) && run.find(entry.key) == nullptr)
      compare(&entry.value, nullptr, entry.key, changes);
  }
  return changes;
}

ChangeHistory::ChangeHistory(const std::string& json, const std::string& source) {
  try {
    for (const auto& one : nlohmann::json::parse(json))
      all_[one.at("global_step").get<int64_t>()] = one.at("changes").get<std::vector<std::string>>();
  } catch (const nlohmann::json::exception& error) {
    throw CheckpointError(source, std::string("its changes of the config cannot be read: ") + error.what());
  }
}

void ChangeHistory::add(int64_t global_step, const std::vector<std::string>& changes) {
  if (changes.empty()) return;
  std::vector<std::string>& here = all_[global_step];
  here.insert(here.end(), changes.begin(), changes.end());
}

std::string ChangeHistory::to_json() const {
  nlohmann::ordered_json json = nlohmann::ordered_json::array();
  for (const auto& [step, changes] : all_) json.push_back({{"global_step", step}, {"changes", changes}});
  return json.dump();
}

std::vector<std::string> ChangeHistory::lines() const {
  std::vector<std::string> lines;
  for (const auto& [step, changes] : all_)
    for (const std::string& change : changes)
      lines.push_back("from global_step " + std::to_string(step) + ": " + change);
  return lines;
}

FirstValues first_values(const VariableTable& table) {
  FirstValues values;
  for (const std::string& name : table.hyper_parameters()) {
    const VariableSpec& spec = *table.find(name);
    if (spec.schedule) {
      values[name] = std::nullopt;
      continue;
    }
    const Tensor first = Tensor::zeros({DType::kFloat64, spec.spec.shape});
    Rng unused(0);
    if (spec.initialize) spec.initialize(first, unused);
    values[name] = first.at(0);
  }
  return values;
}

std::string to_json(const FirstValues& values) {
  nlohmann::ordered_json json = nlohmann::ordered_json::object();
  for (const auto& [name, value] : values) json[name] = value ? nlohmann::ordered_json(*value) : nullptr;
  return json.dump();
}

FirstValues first_values_from(const std::string& json, const std::string& source) {
  FirstValues values;
  try {
    const auto all = nlohmann::json::parse(json);
    for (const auto& [name, value] : all.items())
      values[name] = value.is_null() ? std::nullopt : std::optional(value.get<double>());
  } catch (const nlohmann::json::exception& error) {
    throw CheckpointError(source, std::string("its hyper-parameters cannot be read: ") + error.what());
  }
  return values;
}

std::vector<std::string> split_changes(const ConfigNode& checkpoint, const ConfigNode& run) {
  std::vector<std::string> changes;
  const ConfigNode* before = checkpoint.find("data");
  const ConfigNode* now = run.find("data");
  if (before == nullptr || now == nullptr) return changes;
  for (const ConfigNode::Entry& entry : now->entries()) {
    const ConfigNode* earlier = before->find(entry.key);
    const auto split = split_of(entry.value);
    if (earlier == nullptr) continue;
    const auto former = split_of(*earlier);
    if (split || former)
      compare(former ? &*former : nullptr, split ? &*split : nullptr, "the split of data." + entry.key,
              changes);
  }
  return changes;
}

}  // namespace tpack
