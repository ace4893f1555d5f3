#pragma once

#include <memory>
#include <string>
#include <vector>

#include "backend/inference_tower.h"
#include "checkpoint/checkpoint.h"
#include "experiment/experiment.h"

namespace tpack {

/// A trained model as a checkpoint holds it: its experiment, its weights on a device, the names of its
/// classes.
class StoredModel {
 public:
  /// `overrides` change the config that the checkpoint holds. Its plugins are loaded only where
  /// `allow_plugins` says so: code is not run because a file of weights names it. Errors: CheckpointError;
  /// ConfigError.
  StoredModel(const std::string& path, const std::vector<std::string>& overrides, bool allow_plugins);

  const Experiment& experiment() const { return experiment_; }
  ModelHandle place() { return tower_->place(); }
  /// Empty if the checkpoint does not say.
  const std::vector<std::string>& labels() const { return labels_; }

 private:
  Experiment experiment_;
  std::unique_ptr<InferenceTower> tower_;
  std::vector<std::string> labels_;
};

/// The class names of the labels that a model learns, as a checkpoint holds them; empty if there are none.
std::string labels_json(const TowerFunction* tower, const DataFlow& flow);
/// What data.train fixes for all data of the model, as a checkpoint keeps it.
std::string fitted_json(const FittedData& fitted);
/// Nothing if a checkpoint does not say. Errors: CheckpointError.
std::optional<FittedData> stored_fit(const CheckpointContent& content, const std::string& path);
/// The names in a checkpoint; empty if it has none. Errors: CheckpointError.
std::vector<std::string> stored_labels(const CheckpointContent& content, const std::string& path);

}  // namespace tpack
