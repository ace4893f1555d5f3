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

/// Patterns (is_for_variable) for the tensors that a callback looks at.
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

/// The tensors that a callback looks at. Those of outputs take a forward pass of their own each time
/// (TowerOutputs).
class WatchedTensors {
 public:
  /// In the callback's setup. Errors: ConfigError with each pattern that matches nothing, and for none at
  /// all.
  WatchedTensors(const Setup& setup, const TensorPatterns& patterns);

  /// "fc0", "fc0/W", "gradient/fc0/W"; those of outputs come first.
  const std::vector<std::string>& names() const { return names_; }
  size_t outputs() const { return outputs_ ? outputs_->outputs().size() : 0; }
  /// Of a whole batch.
  Shape shape(size_t i) const;
  /// Of an input that is an image the order of its axes in the data: "HWC", "CHW"; else "".
  std::string layout(size_t i) const { return i < outputs() ? outputs_->outputs()[i].layout : ""; }
  void compile();
  /// In before_run: has the outputs of the coming step computed, before its updates.
  void want() { *wanted_ = true; }
  /// Has them computed now, for the batch of the last step. False if there was none yet.
  bool compute();
  /// On the host, valid until the next step. Nothing for a gradient that the last step has not computed.
  std::optional<Tensor> value(size_t i) const;
  /// What a checkpoint within hooks needs of the last step, for a callback that has yet to look at it: the
  /// batch and gradients.
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
  std::shared_ptr<bool> wanted_ = std::make_shared<bool>(false);  // the trainer may live longer than this
};

}  // namespace tpack
