#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "model/network.h"

namespace tpack {

/// Thrown if a value is missing because of an error that is already reported; has no problems.
class AlreadyReported : public ConfigError {
 public:
  AlreadyReported() : ConfigError(std::vector<Problem>{}) {}
};

/// Emits parsed lists into a graph and keeps the outputs by name. After an error it continues with the layers
/// that do not depend on the failed one, so that all errors are found at once.
class NetworkBuilder {
 public:
  explicit NetworkBuilder(Builder& b) : builder_(b) {}

  Builder& builder() { return builder_; }
  /// Adds a value by name in the current scope.
  void add_output(const std::string& name, Symbol value);
  /// The same for an input of the model.
  void add_input(const std::string& name, Symbol value) {
    add_output(name, value);
    inputs_.insert(name);
  }
  bool is_input(const std::string& name) const { return inputs_.contains(name); }
  /// Adds an output of the current layer: the output `state` of the layer `lstm` is named `lstm.state`.
  /// Errors: ConfigError if another layer has this name.
  void add_value(const std::string& name, Symbol value);
  /// Emits the layers one after the other, the first one on `x` unless its item names another input. Returns
  /// the output of the last one, empty if it only has named outputs. Errors: ConfigError with the problems of
  /// all layers; inside a layer that contains layers AlreadyReported.
  Symbol build(const ParsedList& list, Symbol x);
  /// As above, inside a layer, for the layers of a block; errors include the place where the block is used.
  Symbol build_block(const ParsedList& list, Symbol x, const BlockUse& use);
  /// Emits a network on its inputs, inside the layer that calls it. Errors: as build; ConfigError for a wrong
  /// number of inputs.
  Symbol call(const Network& network, std::span<const Symbol> in, const Position& position);
  /// A layer's output or an input, looked up from the innermost scope outwards, up to the current network.
  /// Errors: ConfigError with a suggestion; AlreadyReported for the output of a failed layer.
  Symbol output(const Ref<LayerOutput>& ref) const;
  const std::map<std::string, Symbol>& outputs() const { return outputs_; }
  /// False after an error in a layer.
  bool complete() const { return failed_.empty(); }

 private:
  std::string full_name(const std::string& name) const;
  Symbol find(const std::string& path) const;
  Symbol build_layer(const ParsedLayer& layer, Symbol before);
  std::string values_of(const ParsedLayer& layer) const;
  bool failed(std::string path) const;

  Builder& builder_;
  std::map<std::string, Symbol> outputs_;         // by full name
  std::map<std::string, Symbol> network_inputs_;  // by full name: "fake/input"
  std::set<std::string> inputs_;                  // of the model
  std::set<std::string> values_;                  // additional outputs of layers
  std::set<std::string> failed_;                  // full names of layers without an output
  Diagnostics errors_;
  std::vector<BlockUse> uses_;  // the current blocks and networks, outermost first
  std::string base_;            // path of the call of the innermost network; "" outside of networks
  BlockNotes notes_;
  int depth_ = 0;  // of nested lists
};

}  // namespace tpack
