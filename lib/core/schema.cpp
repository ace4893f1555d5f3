#include "core/schema.h"

#include <algorithm>

#include "core/other_words.h"
#include "core/text.h"

namespace tpack {

namespace {

/// "; write 'file: a.csv'" for the key `file:a.csv`, which lacks a space.
std::string space_after_colon(const std::string& key, const std::vector<std::string>& names) {
  const size_t colon = key.find(':');
  const std::string name = key.substr(0, colon);
  if (colon == std::string::npos || std::find(names.begin(), names.end(), name) == names.end()) return "";
  return "; write '" + name + ": " + key.substr(colon + 1) + "', with a space after the colon";
}

}  // namespace

void check_keys(const ConfigNode& node, const std::vector<FieldInfo>& fields, const std::string& owner,
                Diagnostics& errors) {
  std::vector<std::string> names;
  for (const FieldInfo& field : fields) names.push_back(field.name);
  for (const ConfigNode::Entry& entry : node.entries()) {
    if (std::find(names.begin(), names.end(), entry.key) != names.end()) continue;
    std::string text = "unknown key '" + entry.key + "' in " + owner;
    std::string suggestion = space_after_colon(entry.key, names);
    if (suggestion.empty()) suggestion = advice_on(owner, entry.key);
    if (suggestion.empty()) suggestion = did_you_mean(entry.key, names);
    if (suggestion.empty()) suggestion = names.empty() ? "; it has no keys" : "; known: " + join(names, ", ");
    errors.add(entry.key_position, text + suggestion);
  }
}

bool check_is_map(const ConfigNode& node, const std::string& owner, Diagnostics& errors,
                  const std::string& main_field) {
  if (node.is_map() || node.is_null()) return true;
  const bool is_value = node.is_scalar() && !main_field.empty();
  errors.add(node.position(), owner + ": expected a map of parameters {key: value}, found " +
                                  node.describe() +
                                  (is_value ? "; write {" + main_field + ": " + node.text() + "}" : ""));
  return false;
}

}  // namespace tpack
