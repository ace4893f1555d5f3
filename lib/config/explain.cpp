#include "config/explain.h"

#include <optional>

#include "config/item_address.h"
#include "config/yaml_reader.h"
#include "core/error.h"
#include "core/text.h"

namespace tpack {
namespace {

constexpr const char* kDeleted = "deleted";  // no JSON: the text "deleted" has quotes there

/// The value of one source at the path, or the `!delete` on the way there.
std::optional<ConfigNode> said_by(const Found& source, const std::vector<std::string>& words) {
  std::vector<std::string> before;
  for (const std::string& word : words) {
    before.push_back(word);
    const auto found = find_path(source, before);
    if (found && found->node.tag() == kDeleteTag) return found->node;
  }
  const auto found = find_path(source, words);
  return found ? std::optional(found->node) : std::nullopt;
}

}  // namespace

std::string Origin::str() const { return where.str() + ": " + value + (used ? " (used)" : ""); }

std::string Origin::json() const {
  const std::string what = value == kDeleted ? "\"deleted\": true" : "\"value\": " + value;
  return "{\"where\": " + to_json(ConfigNode(where.str())) + ", " + what +
         ", \"used\": " + (used ? "true" : "false") + "}";
}

std::vector<Origin> explain(const std::vector<ConfigNode>& sources, const ConfigNode& merged,
                            const FieldType& structure, const std::string& key) {
  const std::vector<std::string> words = split(key, '.');
  std::vector<Origin> origins;
  for (const ConfigNode& source : sources) {
    const auto written = said_by({source, {}, structure}, words);
    if (!written) continue;
    origins.push_back(
        {written->position(), written->tag() == kDeleteTag ? kDeleted : to_json(*written), false});
  }
  if (origins.empty()) return origins;
  const auto found = find_path({merged, {}, structure}, words);
  for (Origin& origin : origins) {
    const bool whole = found && found->node.is_scalar();
    origin.used = whole && origin.where == found->node.position() && origin.value != kDeleted;
  }
  if (found && !found->node.is_scalar()) origins.back().used = true;
  return origins;
}

void throw_unknown_key(const ConfigNode& config, const FieldType& structure, const std::string& key) {
  const Found root{config, {}, structure};
  const std::vector<std::string> words = split(key, '.');
  const std::vector<std::string> before = leading_part(root, words);
  TPACK_ASSERT(before.size() < words.size(), "the key exists");
  const std::string& word = words[before.size()];
  const ConfigNode owner = find_path(root, before)->node;
  const std::string name = before.empty() ? "the config" : "'" + join(before, ".") + "'";
  if (owner.is_list() && matching_items(owner, word).items.size() > 1)
    item_index(owner, word, join(before, "."), {});
  const std::string cause = owner.is_scalar() ? " is " + to_json(owner) : " has no '" + word + "'";
  throw ConfigError("unknown key '" + key + "': " + name + cause +
                    did_you_mean(key, paths_near(root, words)));
}

}  // namespace tpack
