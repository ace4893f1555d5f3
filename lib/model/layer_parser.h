#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/expression.h"
#include "model/network.h"

namespace tpack {

/// The parts of a `model` section that layer lists depend on.
struct LayerParserSettings {
  ConfigNode defaults;  // Conv2D: {kernel: 3}: parameters by layer type, overridden by items
  std::map<std::string, ConfigNode> blocks;    // by name: {parameters: {...}, layers: [...]}
  std::map<std::string, ConfigNode> networks;  // by name: a list of layers, or {inputs: [...], layers: [...]}
};

/// The definition of a block, and of a network with settings.
std::vector<FieldInfo> block_fields();
std::vector<FieldInfo> network_fields();

/// The common settings of all layer items: `name` and `input`.
std::vector<FieldInfo> common_layer_fields();

/// Reports errors in parameters by layer type.
void check_defaults(const ConfigNode& defaults, Diagnostics& errors);

/// Reads layer lists: expressions, defaults, names, blocks. Reports all errors. The settings, scope and
/// errors must outlive it.
class LayerParser {
 public:
  LayerParser(const LayerParserSettings& settings, const Scope& scope, Diagnostics& errors);

  /// Reads a list. Layers without a name get one: their type in snake_case and a running number.
  ParsedList parse(const ConfigNode& list);
  /// As above, with additional names for expressions, innermost first (a block's parameters, the index of
  /// Repeat).
  ParsedList parse_with(const ConfigNode& list, const std::map<std::string, ConfigNode>& names);
  /// As parse_with, for the layers of a block; errors include the place where the block is used.
  ParsedList parse_block(const ConfigNode& list, const std::map<std::string, ConfigNode>& names,
                         const BlockUse& use);
  /// A network of the model, read on first use with the names and defaults of the model, not of the caller.
  /// Errors: ConfigError with a suggestion, or for a network that calls itself.
  std::shared_ptr<const Network> network(const Ref<NetworkName>& ref);
  /// True for a network that is in use.
  bool is_called(const std::string& name) const { return model_->networks.contains(name); }
  /// As parse with additional defaults, which override the outer ones.
  ParsedList parse_with_defaults(const ConfigNode& list, const ConfigNode& defaults);
  Diagnostics& errors() { return *errors_; }
  /// Reading stops: the lists are nested too deep, or have too many layers in total.
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
    int64_t layers = 0;                                                   // layers and lists so far
    bool gave_up = false;
  };

  std::shared_ptr<Model> model_;
  // The state for one list; a nested list is read by a copy with a state of its own.
  const Scope* scope_;
  Diagnostics* errors_;  // of the block, or of the model
  ConfigNode defaults_;
  int depth_ = 0;  // of nested lists, because a block that calls itself would never end
};

}  // namespace tpack
