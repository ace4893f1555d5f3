#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "backend/inference_tower.h"
#include "checkpoint/checkpoint.h"
#include "config/load_config.h"
#include "dataflow/fitted_data.h"
#include "learner/model_config.h"
#include "predict/named_predictor.h"

namespace tpack {

/// Options for loading a stored model.
struct InferenceOptions {
  std::vector<std::string> overrides = {};  // changes of the config in the checkpoint
  bool allow_plugins = false;               // a file of weights alone must not make tpack run code
};

/// The config in a checkpoint. It has no expressions, so changing a variable needs the original config.
/// Errors: CheckpointError if there is none.
LoadedConfig stored_config(const CheckpointContent& content, const std::string& path,
                           const std::vector<std::string>& overrides = {});

/// A trained model from a checkpoint: the only way to run one. It makes only the model of the config: it
/// opens no flow and makes no callback, optimizer or trainer, except a trainer that makes the model itself
/// (KMeans).
///
///   const auto model = InferenceModel::load("train_log/digits/checkpoints/model-500.h5");
///   const Tensor p = model->predict({{"image", images}}).at("probability");
///
/// Threads: const functions may run at once, except for uses of `handle`. Calls of `predict` share the
/// program that is compiled for a number of samples, and take turns to run (NamedPredictor). A program is
/// compiled for each number of samples, and kept: use few batch sizes.
class InferenceModel {
 public:
  /// Errors: CheckpointError; ConfigError.
  static std::unique_ptr<InferenceModel> load(const std::string& path, const InferenceOptions& options = {});
  ~InferenceModel();
  InferenceModel(const InferenceModel&) = delete;
  InferenceModel& operator=(const InferenceModel&) = delete;

  /// Values of the outputs of `predict` for a batch, by name. `batch`: by input, [N, ...]; inputs that the
  /// outputs do not depend on are optional. Errors: ConfigError for missing or unknown inputs, and as for
  /// `outputs`; ShapeError.
  std::map<std::string, Tensor> predict(const std::map<std::string, Tensor>& batch) const;

  const ModelConfig& config() const { return config_; }
  const TowerFunction& tower() const { return *tower_; }
  /// The class names of what the model learns; empty if the checkpoint does not say.
  const std::vector<std::string>& labels() const { return labels_; }
  /// The outputs of `predict`. Errors: ConfigError if the config does not define them.
  std::vector<PredictOutput> outputs() const;
  /// Learned values of the training data for all data of the model; never null.
  const std::shared_ptr<Fit>& fit() const { return fit_; }
  /// Names of the flows of its config. `flow` makes one with the values of `fit`; it is not opened. Errors:
  /// ConfigError.
  std::vector<std::string> flow_names() const;
  DataFlow flow(const std::string& name, SampleOrder order = SampleOrder::kOfFlow) const;

  /// For other programs on its weights, such as an Evaluator; not while `predict` runs.
  ModelHandle handle() const { return weights_->handle(); }

 private:
  InferenceModel() = default;
  void make_tower(const CheckpointContent& content, const std::string& path);

  LoadedConfig source_;
  ModelConfig config_;
  std::shared_ptr<Fit> fit_;
  std::unique_ptr<TowerFunction> tower_;
  std::unique_ptr<InferenceTower> weights_;
  std::vector<std::string> labels_;
  mutable std::mutex making_;
  mutable std::unique_ptr<NamedPredictor> predictor_;  // from the first `predict` on
};

}  // namespace tpack
