#include "config/explain.h"

#include <optional>

#include "config/item_address.h"
#include "config/yaml_reader.h"
#include "core/error.h"
#include "core/text.h"

namespace tpack {
namespace {

/// What one source says at the path: its value, or the `!delete` on the way there.
std::optional<ConfigNode> said_by(const ConfigNode& source, const std::vector<std::string>& words) {
  std::vector<std::string> before;
  for (const std::string& word : words) {
    before.push_back(word);
    const auto found = find_path(source, before);
    if (found && found->node.tag() == kDeleteTag) return found->node;
  }
  const auto found = find_path(source, words);
  return found ? std::optional(found->node) : std::nullopt;
}

/// Where nothing of the path is there, the words that would lead on.
ConfigError unknown_key(const ConfigNode& merged, const std::vector<std::string>& words) {
  std::vector<std::string> before;
  for (const std::string& word : words) {
    before.push_back(word);
    if (find_path(merged, before)) continue;
    before.pop_back();
    const auto node = find_path(merged, before);
    const std::string owner = before.empty() ? "the config" : "'" + join(before, ".") + "'";
    const std::string hint = node ? did_you_mean(word, words_at(node->node)) : "";
    return ConfigError(owner + " has no '" + word + "'" + (hint.empty() ? "; its default is used" : hint));
  }
  return ConfigError("'" + join(words, ".") + "' is set nowhere");
}

}  // namespace

std::string Origin::str() const { return where.str() + ": " + value + (used ? " (used)" : ""); }

std::vector<Origin> explain(const std::vector<ConfigNode>& sources, const ConfigNode& merged,
                            const std::string& key) {
  const std::vector<std::string> words = split(key, '.');
  std::vector<Origin> origins;
  for (const ConfigNode& source : sources) {
    const auto said = said_by(source, words);
    if (!said) continue;
    origins.push_back({said->position(), said->tag() == kDeleteTag ? "deleted" : to_json(*said), false});
  }
  if (origins.empty()) throw unknown_key(merged, words);
  const auto found = find_path(merged, words);
  for (Origin& origin : origins) {
    const bool whole = found && found->node.is_scalar();
    origin.used = whole && origin.where == found->node.position() && origin.value != "deleted";
  }
  if (found && !found->node.is_scalar()) origins.back().used = true;
  return origins;
}

}  // namespace tpack
