#pragma once

#include <concepts>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/schema.h"
#include "train/callback.h"
#include "train/tower_outputs.h"

namespace tpack {

/// Patterns (is_for_variable) for the tensors of a callback.
struct TensorPatterns {
  std::vector<Ref<OutputPattern>> outputs;  // of layers, and inputs
  std::vector<Ref<VariablePattern>> variables;
  std::vector<Ref<VariablePattern>> gradients;  // of variables that match
};

/// Adds these fields to the schema of a callback whose Params derive from it.
template <std::derived_from<TensorPatterns> P>
Schema<P> watching(Schema<P> schema) {
  return schema
      .field("outputs", static_cast<std::vector<Ref<OutputPattern>> P::*>(&P::outputs),
             "layers or inputs: names, prefixes of names or regular expressions; their values in training, "
             "for the batch of the first tower")
      .field("variables", static_cast<std::vector<Ref<VariablePattern>> P::*>(&P::variables),
             "variables of the model, in the same form")
      .field("gradients", static_cast<std::vector<Ref<VariablePattern>> P::*>(&P::gradients),
             "variables, in the same form: their gradients in the last step");
}

/// The tensors of a callback. Outputs need a separate forward pass each time (TowerOutputs).
class WatchedTensors {
 public:
  /// In the callback's setup. Errors: ConfigError with each pattern without a match, and if there is no
  /// pattern.
  WatchedTensors(const Setup& setup, const TensorPatterns& patterns);

  /// "fc0", "fc0/W", "gradient/fc0/W"; outputs come first.
  const std::vector<std::string>& names() const { return names_; }
  size_t outputs() const { return outputs_ ? outputs_->outputs().size() : 0; }
  /// The spec for a whole batch.
  Shape shape(size_t i) const;
  /// For an image input, the order of its axes in the data: "HWC", "CHW"; else "".
  std::string layout(size_t i) const { return i < outputs() ? outputs_->outputs()[i].layout : ""; }
  void compile();
  /// In before_run: requests the outputs of the next step, before its updates.
  void want() { *wanted_ = true; }
  /// Computes them now, for the batch of the last step. False if there was none yet.
  bool compute();
  /// On the host, valid until the next step. Empty for a gradient that the last step did not compute.
  std::optional<Tensor> value(size_t i) const;
  /// The data of the last step for a checkpoint within hooks, if a callback still needs it: the batch and
  /// gradients.
  void save(State& state) const;
  void load(const State& state);

 private:
  std::optional<TowerBatch> last_batch() const;
  bool is_gradient(size_t i) const;

  Run& run_;
  std::unique_ptr<TowerOutputs> outputs_;  // null: none
  std::vector<std::string> names_;
  std::vector<std::string> stored_;  // the others, as VariableStore names them
  std::vector<Shape> shapes_;        // of these
  std::vector<Tensor> kept_batch_;   // of the last step of another process
  RunInfo kept_info_;
  std::map<std::string, Tensor> kept_gradients_;                  // likewise, by name
  std::shared_ptr<bool> wanted_ = std::make_shared<bool>(false);  // the trainer may outlive this
};

}  // namespace tpack
