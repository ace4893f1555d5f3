#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/expression.h"
#include "model/network.h"

namespace tpack {

/// What a `model` section gives to the reading of its layer lists.
struct LayerParserSettings {
  ConfigNode defaults;  // Conv2D: {kernel: 3}: parameters by layer type, under what an item says
  std::map<std::string, ConfigNode> blocks;    // by name: {parameters: {...}, layers: [...]}
  std::map<std::string, ConfigNode> networks;  // by name: a list of layers, or {inputs: [...], layers: [...]}
};

/// What the definition of a block, and that of a network with settings, may say.
std::vector<FieldInfo> block_fields();
std::vector<FieldInfo> network_fields();

/// What the item of every layer may say besides the layer's own parameters: `name` and `input`.
std::vector<FieldInfo> common_layer_fields();

/// Reports what is wrong in parameters by layer type.
void check_defaults(const ConfigNode& defaults, Diagnostics& errors);

/// Reads layer lists: expressions, defaults, names, blocks. Reports everything that is wrong and goes on. The
/// settings, scope and errors must outlive it.
class LayerParser {
 public:
  LayerParser(const LayerParserSettings& settings, const Scope& scope, Diagnostics& errors);

  /// Reads a list. Layers without a name get one: their type in snake_case and a running number.
  ParsedList parse(const ConfigNode& list);
  /// As above with further names for expressions, innermost first (a block's parameters, the index of
  /// Repeat).
  ParsedList parse_with(const ConfigNode& list, const std::map<std::string, ConfigNode>& names);
  /// As parse_with, for the layers of a block; errors in them say where the block is used.
  ParsedList parse_block(const ConfigNode& list, const std::map<std::string, ConfigNode>& names,
                         const BlockUse& use);
  /// A network of the model, read when it is first asked for: with the names and defaults of the model, not
  /// those of the place of the call. Errors: ConfigError with suggestion; for a network that calls itself.
  std::shared_ptr<const Network> network(const Ref<NetworkName>& ref);
  /// True for a network that was asked for.
  bool is_called(const std::string& name) const { return model_->networks.contains(name); }
  /// As parse with further defaults, which win over the outer ones.
  ParsedList parse_with_defaults(const ConfigNode& list, const ConfigNode& defaults);
  Diagnostics& errors() { return *errors_; }
  /// Nothing more will be read: the lists are nested too deep, or are too many layers altogether.
  bool gave_up() const { return model_->gave_up; }

 private:
  void give_up(const Position& where, const char* why) const;
  std::optional<ParsedLayer> parse_item(const ConfigNode& item, std::map<std::string, int>& counts);
  std::unique_ptr<Layer> make(const ComponentItem& item, const ConfigNode& params);
  ConfigNode substitute_own(const ComponentItem& item) const;
  ConfigNode with_defaults(const ComponentItem& item) const;

  void check_inputs(const Network& network, const ConfigNode& definition);
  std::shared_ptr<const Network> parse_network(const std::string& name, const ConfigNode& definition);

  /// What all lists of a model share.
  struct Model {
    const LayerParserSettings& settings;
    const Scope& scope;
    Diagnostics& errors;
    BlockNotes notes = {};
    std::map<std::string, std::shared_ptr<const Network>> networks = {};  // null: being read
    int64_t layers = 0;                                                   // so far, and lists
    bool gave_up = false;
  };

  std::shared_ptr<Model> model_;
  // Of the place of a list: other places are read by a copy with others.
  const Scope* scope_;
  Diagnostics* errors_;  // of the block, or of the model
  ConfigNode defaults_;
  int depth_ = 0;  // of nested lists: a block that calls itself has no end
};

}  // namespace tpack
