#pragma once

#include <cstddef>
#include <string>

#include "config/yaml_text.h"
#include "core/config_node.h"

namespace tpack {

// Tags that say how a value is merged into what includes bring.
constexpr const char* kAppendTag = "!append";  // before a list: it is added to the end of the existing list
constexpr const char* kDeleteTag = "!delete";  // instead of a value: the key is removed

/// How many values the files of one config may still bring, aliases counted as often as they are used.
class NodeBudget {
 public:
  static constexpr size_t kMaxNodes = 100'000;
  /// Errors: ConfigError at `where` once more than kMaxNodes were taken.
  void take(size_t nodes, const Position& where);

 private:
  size_t left_ = kMaxNodes;
};

constexpr int kMaxYamlDepth = 64;

/// Reads one YAML document into a tree. Quoted scalars are strings, plain ones are typed. Every node knows
/// its place. A null has the position of its key. Errors: ConfigError with the place for what is not YAML,
/// more than one document, duplicate keys, keys that are not scalars, merge keys, unknown tags, aliases that
/// contain themselves, and what is beyond the limits.
ConfigNode parse_yaml(const YamlText& source, NodeBudget& budget);
/// The YAML of a string; `name` is what positions show.
ConfigNode parse_yaml(const std::string& text, const std::string& name);

}  // namespace tpack
