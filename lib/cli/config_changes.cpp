#include "cli/config_changes.h"

#include "core/error.h"

namespace tpack {
namespace {

std::string described(const ConfigNode* node) {
  if (node == nullptr) return "left out";
  return node->is_scalar() ? node->text() : node->describe();
}

void compare(const ConfigNode* before, const ConfigNode* now, const std::string& path,
             std::vector<std::string>& changes) {
  if (before == nullptr && now == nullptr) return;
  const bool maps = before != nullptr && now != nullptr && before->is_map() && now->is_map();
  const bool lists = before != nullptr && now != nullptr && before->is_list() && now->is_list() &&
                     before->size() == now->size();
  if (maps) {
    for (const ConfigNode::Entry& entry : before->entries())
      compare(&entry.value, now->find(entry.key), path + "." + entry.key, changes);
    for (const ConfigNode::Entry& entry : now->entries()) {
      if (before->find(entry.key) == nullptr) compare(nullptr, &entry.value, path + "." + entry.key, changes);
    }
  } else if (lists) {
    for (size_t i = 0; i < now->size(); ++i)
      compare(&before->items()[i], &now->items()[i], path + "." + std::to_string(i), changes);
  } else if (described(before) != described(now)) {
    changes.push_back(path + " was " + described(before) + ", is " + described(now));
  }
}

/// The name of the one component of a section; "" where there is none.
std::string component_of(const ConfigNode* section) {
  if (section == nullptr || section->is_null()) return "";
  return component_item(*section, "component").name;
}

}  // namespace

std::vector<std::string> config_changes(const ConfigNode& checkpoint, const ConfigNode& run,
                                        const Position& optimizer) {
  const std::string before = component_of(checkpoint.find("optimizer"));
  const std::string now = component_of(run.find("optimizer"));
  if (before != now) {
    throw ConfigError(optimizer,
                      "the checkpoint was made with optimizer " + before + ", this run has " + now +
                          "; resume with the same, or begin a new run that takes the weights (init)");
  }
  std::vector<std::string> changes;
  for (const char* section : {"data", "model", "optimizer"})
    compare(checkpoint.find(section), run.find(section), section, changes);
  compare(checkpoint.find("starting_epoch"), run.find("starting_epoch"), "starting_epoch", changes);
  return changes;
}

}  // namespace tpack
