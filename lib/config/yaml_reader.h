#pragma once

#include <cstddef>
#include <string>

#include "config/yaml_text.h"
#include "core/config_node.h"

namespace tpack {

// Tags for merging a value into the values of includes.
constexpr const char* kAppendTag = "!append";  // before a list: append it to the existing list
constexpr const char* kDeleteTag = "!delete";  // instead of a value: remove the key

/// The number of values that the files of one config may still have; each use of an alias counts.
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
/// its position. A null has the position of its key. Errors: ConfigError with the position for invalid YAML,
/// more than one document, duplicate keys, keys that are not scalars, merge keys, unknown tags, aliases that
/// contain themselves, and exceeded limits.
ConfigNode parse_yaml(const YamlText& source, NodeBudget& budget);
/// The YAML of a string; positions show `name` as the file.
ConfigNode parse_yaml(const std::string& text, const std::string& name);

}  // namespace tpack
