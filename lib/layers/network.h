#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/expression.h"
#include "layers/layer.h"

namespace tpack {

/// What a `model` section gives to the reading of its layer lists.
struct LayerParserSettings {
  ConfigNode defaults;  // Conv2D: {kernel: 3}: parameters by layer type, under what an item says
  std::map<std::string, ConfigNode> blocks;  // by name: {parameters: {...}, layers: [...]}
};

/// Reports what is wrong in parameters by layer type.
void check_defaults(const ConfigNode& defaults, Diagnostics& errors);

/// Reads layer lists: expressions, defaults, names, blocks. Reports everything that is wrong and goes on.
class LayerParser {
 public:
  LayerParser(const LayerParserSettings& settings, const Scope& scope, Diagnostics& errors);

  /// Reads a list. Layers without a name get one: their type in snake_case and a running number.
  ParsedList parse(const ConfigNode& list);
  /// As above with further names for expressions, innermost first (a block's parameters, the index of
  /// Repeat).
  ParsedList parse_with(const ConfigNode& list, const std::map<std::string, ConfigNode>& names);
  /// As above with further defaults, which win over the outer ones.
  ParsedList parse_with_defaults(const ConfigNode& list, const ConfigNode& defaults);
  Diagnostics& errors() { return errors_; }
  /// Nothing more will be read: the lists are nested too deep, or are too many layers altogether.
  bool gave_up() const { return gave_up_; }

 private:
  void give_up(const Position& where, const char* why);
  std::optional<ParsedLayer> parse_item(const ConfigNode& item, std::map<std::string, int>& counts);
  std::unique_ptr<Layer> make(const ComponentItem& item, const ConfigNode& params);
  ConfigNode substitute_own(const ComponentItem& item) const;
  ConfigNode with_defaults(const ComponentItem& item) const;

  const LayerParserSettings& settings_;
  const Scope* scope_;
  Diagnostics& errors_;
  ConfigNode defaults_;
  int depth_ = 0;       // of nested lists: a block that calls itself has no end
  int64_t layers_ = 0;  // so far, and lists
  bool gave_up_ = false;
};

/// Emits parsed lists into a graph and keeps the outputs by name.
class NetworkBuilder {
 public:
  explicit NetworkBuilder(Builder& b) : builder_(b) {}

  Builder& builder() { return builder_; }
  /// Makes a value known by name, under the scope that is open.
  void add_output(const std::string& name, Symbol value);
  /// Emits the layers one after the other, the first one on `x` unless its item names another input; the
  /// output of the last one. Errors: ConfigError, ShapeError.
  Symbol build(const ParsedList& list, Symbol x);
  /// A layer's output or an input, looked up from the innermost scope outwards. Errors: ConfigError with
  /// suggestion.
  Symbol output(const Ref<LayerOutput>& ref) const;
  const std::map<std::string, Symbol>& outputs() const { return outputs_; }

 private:
  std::string full_name(const std::string& name) const;

  Builder& builder_;
  std::map<std::string, Symbol> outputs_;  // by full name
};

}  // namespace tpack
