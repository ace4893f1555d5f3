#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/expression.h"
#include "graph/builder.h"

namespace tpack {

/// A value that the model is fed.
struct ModelInput {
  std::string name;
  TensorSpec spec;        // of one sample where `batched`
  std::string layout;     // "HWC", "CHW" for images, "" for the rest
  bool batched = true;    // false: data without a batch axis
  std::string component;  // of the datapoint; the input's own name where the model says nothing else
  Position position = {};

  /// The spec of what is fed for a batch of `batch` samples.
  TensorSpec batch_spec(int64_t batch) const;
};

/// A named figure of one batch: value = sum / weight.
struct Statistic {
  std::string name;
  Symbol sum;
  Symbol weight;
};

/// What building a model gives.
struct ModelResult {
  Symbol cost;                            // empty where the model has none
  std::vector<Statistic> statistics;      // "cost" first where there is one
  std::map<std::string, Symbol> outputs;  // layers by full name, and the inputs
};

/// The tower function: emits the network for one batch. Called once for each phase and input signature; must
/// declare the same variables each time. Threads: const.
class Model {
 public:
  static constexpr const char* kKind = "model";
  virtual ~Model() = default;
  virtual const std::vector<ModelInput>& inputs() const = 0;
  /// `in`: by input name, images in logical order [N, C, H, W]. Errors: ConfigError, ShapeError with
  /// positions.
  virtual ModelResult build(Builder& b, const std::map<std::string, Symbol>& in) const = 0;
};

/// A model's network written in C++: registered like any component, it stands in the place of the `layers`
/// list.
///   model: {inputs: ..., layers: {MyNet: {width: 8}}, cost: [...]}
class Network {
 public:
  static constexpr const char* kKind = "network";
  virtual ~Network() = default;
  /// Emits the network; returns outputs by name for costs, metrics and predictions.
  virtual std::map<std::string, Symbol> build(Builder& b, const std::map<std::string, Symbol>& in) const = 0;
};

/// Reads a `model` section. `scope` resolves the expressions left in it. Reports all that is wrong; null
/// then.
std::unique_ptr<Model> make_model(const ConfigNode& section, const Scope& scope, Diagnostics& errors);

/// The section with every default written out (nested lists as they are).
ConfigNode effective_model(const ConfigNode& section);

/// Declares the model's inputs in a graph for a batch of `batch` samples and brings images into logical
/// order.
std::map<std::string, Symbol> declare_inputs(Builder& b, const std::vector<ModelInput>& inputs,
                                             const std::vector<TensorSpec>& fed);

}  // namespace tpack
