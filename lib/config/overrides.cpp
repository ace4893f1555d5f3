#include "config/overrides.h"

#include <algorithm>
#include <memory>
#include <set>
#include <utility>

#include "config/item_address.h"
#include "core/error.h"
#include "core/substitute.h"
#include "core/text.h"

namespace tpack {
namespace {

Position position_of(const std::string& key) {
  return {std::make_shared<const std::string>("--set " + key), 0, 0};
}

std::string key_of(const std::string& text) {
  return std::string(trim(std::string_view(text).substr(0, text.find('='))));
}

/// True if an expression of the config uses this key of `vars`.
bool is_used(const ConfigNode& config, const std::string& key) {
  std::set<std::string> names;
  try {
    collect_names(config, names);
  } catch (const ConfigError&) {
    return true;  // reported later, at its place
  }
  return std::any_of(names.begin(), names.end(), [&](const std::string& name) {
    return name == key || name.starts_with(key + ".") || name == "vars." + key ||
           name.starts_with("vars." + key + ".");
  });
}

ConfigNode nested(const std::vector<std::string>& words, ConfigNode value, const Position& where) {
  for (size_t i = words.size(); i > 0; --i) {
    value = ConfigNode::map({{words[i - 1], std::move(value), where}}, where);
  }
  return value;
}

}  // namespace

ConfigNode parse_override(const std::string& text, NodeBudget& budget) {
  const size_t equals = text.find('=');
  const std::string key = key_of(text);
  const Position where = position_of(key.empty() ? text : key);
  if (equals == std::string::npos) throw ConfigError(where, "'=' is missing; write --set KEY=VALUE");
  const std::vector<std::string> words = split(key, '.');
  if (std::find(words.begin(), words.end(), "") != words.end()) {
    throw ConfigError(where,
                      key.empty() ? "the key before '=' is missing" : "key '" + key + "' has an empty part");
  }
  const std::string value = text.substr(equals + 1);
  if (trim(value).empty()) return nested(words, ConfigNode::null(where), where);
  return nested(words, parse_yaml(YamlText::of_option(value, where), budget), where);
}

void check_override(const ConfigNode& config, const FieldType& structure, const ConfigNode& override_tree) {
  ConfigNode there = config;
  ConfigNode rest = override_tree;
  FieldType type = structure;
  const Position& where = override_tree.position();
  for (std::string path; there.is_map() && rest.is_map() && rest.size() == 1;) {
    const ConfigNode::Entry entry = rest.entries()[0];
    const ConfigNode* next = there.find(entry.key);
    const bool slot = type.base == FieldType::Base::kComponent;  // another component may take its place
    const FieldType form = form_of(type, there);
    const bool known = field_named(form, entry.key) != nullptr || shorthand_list(form, there) != nullptr;
    const bool checked = (entry.value.is_map() && entry.value.position() == where && !slot) || path == "vars";
    const std::string owner = path.empty() ? "the config" : "'" + path + "'";
    if (next == nullptr && checked && !known) {
      const std::string suggestion = did_you_mean(entry.key, words_at(there, type));
      const bool of_vars = path == "vars" && !is_used(config, entry.key);
      if (!suggestion.empty() || of_vars)
        throw ConfigError(where, owner + " has no '" + entry.key + "'" +
                                     (suggestion.empty() ? ", and no expression uses it" : suggestion));
    }
    if (next == nullptr) return;
    type = type_below(form, entry.key);
    there = ConfigNode(*next);
    rest = ConfigNode(entry.value);
    path += (path.empty() ? "" : ".") + entry.key;
  }
}

void check_numbered_items(const ConfigNode& config, const FieldType& structure, const std::string& text) {
  const Found root{config, {}, structure};
  const std::string key = key_of(text);
  const std::vector<std::string> words = split(key, '.');
  std::vector<std::string> path;
  for (size_t i = 0; i + 1 < words.size(); ++i) {
    path.push_back(words[i]);
    const auto item = starts_with_digit(words[i]) ? find_path(root, path) : std::nullopt;
    if (!item || !is_other_component(item->node, words[i + 1])) continue;
    throw ConfigError(position_of(key), "'" + join(path, ".") + "' is " + item_component(item->node) +
                                            ", not " + words[i + 1] + "; to replace it, write --set '" +
                                            join(path, ".") + "={" + words[i + 1] + ": {...}}'");
  }
}

}  // namespace tpack
