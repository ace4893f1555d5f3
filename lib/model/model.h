#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/expression.h"
#include "graph/tower_function.h"

namespace tpack {

/// A network in C++: registered like any component, used instead of the `layers` list.
///   model: {inputs: ..., layers: {MyNet: {width: 8}}, cost: [...]}
class Model {
 public:
  static constexpr const char* kKind = "model";
  virtual ~Model() = default;
  /// Emits the network; returns outputs by name for costs, metrics and predictions.
  virtual std::map<std::string, Symbol> build(Builder& b, const std::map<std::string, Symbol>& in) const = 0;
};

/// True for a valid name of a network, a cost or an update, which become parts of paths: letters, digits,
/// '_', '-' and '.'.
bool is_model_name(const std::string& text);

/// Reads a `model` section. `scope` resolves its remaining expressions. Reports all errors and returns null
/// if there are any.
std::unique_ptr<TowerFunction> make_model(const ConfigNode& section, const Scope& scope, Diagnostics& errors);

/// Names of the costs of a `model` section; no errors.
std::vector<std::string> cost_names(const ConfigNode& section);

/// The settings of a `model` section, for tools.
std::vector<FieldInfo> model_fields();

/// The section with every default written out (blocks and lists inside layers unchanged).
ConfigNode effective_model(const ConfigNode& section);

}  // namespace tpack
