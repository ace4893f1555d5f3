#pragma once

#include <cstddef>
#include <string>

#include "config/yaml_text.h"
#include "core/config_node.h"

namespace tpack {

// Tags that say how a value is merged into what includes bring.
constexpr const char* kAppendTag = "!append";  // before a list: goes behind the list that is there
constexpr const char* kDeleteTag = "!delete";  // in place of a value: the key is taken away

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

/// Reads one YAML document into a tree. Quoted scalars are texts, plain ones are typed. Every node knows its
/// place. A null stands where its key does.
/// Errors: ConfigError with the place for what is no YAML, more than one document, duplicate keys, keys that
/// are no scalars, merge keys, unknown tags, aliases that contain themselves, and what is beyond the limits.
ConfigNode parse_yaml(const YamlText& source, NodeBudget& budget);
/// The YAML of a string; `name` is what positions show.
ConfigNode parse_yaml(const std::string& text, const std::string& name);

}  // namespace tpack
