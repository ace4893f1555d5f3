#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "core/expression.h"
#include "layers/layer.h"

namespace tpack {

/// What a `model` section gives to the reading of its layer lists.
struct LayerParserSettings {
  ConfigNode defaults;  // Conv2D: {kernel: 3}: parameters by layer type, under what an item says
  std::map<std::string, ConfigNode> blocks;    // by name: {parameters: {...}, layers: [...]}
  std::map<std::string, ConfigNode> networks;  // by name: a list of layers, or {inputs: [...], layers: [...]}
};

/// A list of layers that can be called several times with the same variables, which are below its name. It
/// sees its own inputs and layers, and nothing of the places where it is called.
struct Network {
  std::string name;
  std::vector<std::string> inputs;  // "input" if it does not name them
  ParsedList layers;
};

/// A place where a block is used as a layer, or a network is called.
struct BlockUse {
  std::string name;  // "block residual", "network generator"
  Position position;
};

/// Says in errors of a block or network where it is used. One that several uses have is reported for the
/// first.
class BlockNotes {
 public:
  /// `uses`: outermost first; none: the error is outside of blocks and is added as it is. Problems without a
  /// position get `fallback`.
  void add(const ConfigError& error, const std::vector<BlockUse>& uses, const Position& fallback,
           Diagnostics& errors);

 private:
  std::set<std::string> seen_;
};

/// What the definition of a block, and that of a network with settings, may say.
std::vector<FieldInfo> block_fields();
std::vector<FieldInfo> network_fields();

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
  /// As parse_with, for the layers of a block; errors in them say where the block is used.
  ParsedList parse_block(const ConfigNode& list, const std::map<std::string, ConfigNode>& names,
                         const BlockUse& use);
  /// A network of the model, read when it is first asked for: with the names and defaults of the model, not
  /// those of the place of the call. Errors: ConfigError with suggestion; for a network that calls itself.
  std::shared_ptr<const Network> network(const Ref<NetworkName>& ref);
  /// As parse with further defaults, which win over the outer ones.
  ParsedList parse_with_defaults(const ConfigNode& list, const ConfigNode& defaults);
  Diagnostics& errors() { return *errors_; }
  /// Nothing more will be read: the lists are nested too deep, or are too many layers altogether.
  bool gave_up() const { return gave_up_; }

 private:
  void give_up(const Position& where, const char* why);
  std::optional<ParsedLayer> parse_item(const ConfigNode& item, std::map<std::string, int>& counts);
  std::unique_ptr<Layer> make(const ComponentItem& item, const ConfigNode& params);
  ConfigNode substitute_own(const ComponentItem& item) const;
  ConfigNode with_defaults(const ComponentItem& item) const;

  std::shared_ptr<const Network> parse_network(const std::string& name, const ConfigNode& definition);

  const LayerParserSettings& settings_;
  const Scope* const root_scope_;
  Diagnostics* const root_errors_;
  const Scope* scope_;
  Diagnostics* errors_;  // those of the block that is being read, or of the model
  BlockNotes notes_;
  ConfigNode defaults_;
  std::map<std::string, std::shared_ptr<const Network>> networks_;  // null: being read
  int depth_ = 0;       // of nested lists: a block that calls itself has no end
  int64_t layers_ = 0;  // so far, and lists
  bool gave_up_ = false;
};

/// Thrown where a value is missing because of an error that is reported elsewhere; it holds no problem.
class AlreadyReported : public ConfigError {
 public:
  AlreadyReported() : ConfigError(std::vector<Problem>{}) {}
};

/// Emits parsed lists into a graph and keeps the outputs by name. After an error it goes on with the layers
/// that do not depend on the one that failed, so that all errors are found at once.
class NetworkBuilder {
 public:
  explicit NetworkBuilder(Builder& b) : builder_(b) {}

  Builder& builder() { return builder_; }
  /// Makes a value known by name, under the scope that is open.
  void add_output(const std::string& name, Symbol value);
  /// Emits the layers one after the other, the first one on `x` unless its item names another input; the
  /// output of the last one. Errors: ConfigError with the problems of all layers; inside a layer that
  /// contains layers AlreadyReported.
  Symbol build(const ParsedList& list, Symbol x);
  /// As above, inside a layer, for the layers of a block; errors in them say where the block is used.
  Symbol build_block(const ParsedList& list, Symbol x, const BlockUse& use);
  /// Emits a network on its inputs, inside the layer that calls it. Errors: as build; ConfigError for another
  /// number of inputs.
  Symbol call(const Network& network, std::span<const Symbol> in, const Position& position);
  /// A layer's output or an input, looked up from the innermost scope outwards, up to the network that is
  /// being emitted. Errors: ConfigError with suggestion; AlreadyReported for the output of a layer that
  /// failed.
  Symbol output(const Ref<LayerOutput>& ref) const;
  const std::map<std::string, Symbol>& outputs() const { return outputs_; }
  /// False after an error in a layer.
  bool complete() const { return failed_.empty(); }

 private:
  std::string full_name(const std::string& name) const;
  Symbol find(const std::string& path) const;
  Symbol build_layer(const ParsedLayer& layer, Symbol before);
  bool failed(std::string path) const;

  Builder& builder_;
  std::map<std::string, Symbol> outputs_;         // by full name
  std::map<std::string, Symbol> network_inputs_;  // by full name: "fake/input"
  std::set<std::string> failed_;                  // full names of layers that have no output
  Diagnostics errors_;
  std::vector<BlockUse> uses_;  // the blocks and networks that are being built, outermost first
  std::string base_;            // path of the call of the innermost network; "" outside of networks
  BlockNotes notes_;
  int depth_ = 0;  // of nested lists
};

}  // namespace tpack
