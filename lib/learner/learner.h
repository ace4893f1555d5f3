#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "backend/open_device.h"
#include "dataflow/data_flow.h"
#include "graph/tower_function.h"
#include "optim/optimizer.h"

namespace tpack {

struct LearnerOptions {
  std::string device = default_device().name;
  EngineSettings engine = {};
  uint64_t seed = 1;
  int64_t batch_size = 1;  // for learning rates in proportion to it; batches may differ
  // For schedules of learning rates:
  int64_t steps_per_epoch = 1;
  int64_t max_epoch = 1;
};

/// A model with its variables, on one device, and its optimizer or updates: for custom training loops. It
/// owns all of its parts.
///
///   Learner learner(std::move(network), momentum(0.1));
///   for (...) cost = learner.step({{"x", x}, {"label", label}}).at("cost");
///   learner.save("model.h5");
///
/// Threads: one caller.
class Learner {
 public:
  /// Values by name: of inputs, outputs, or statistics.
  using Tensors = std::map<std::string, Tensor>;
  using Figures = std::map<std::string, double>;

  /// A network in C++, with new weights. Without an optimizer it can predict and evaluate. Errors:
  /// ConfigError, ShapeError.
  explicit Learner(std::unique_ptr<TowerFunction> tower, std::unique_ptr<Optimizer> optimizer = nullptr,
                   LearnerOptions options = {});
  /// The model, the data, the optimizer or updates, and the engine of a config, with new weights; other
  /// sections are ignored. Errors: as `tpack check`.
  static Learner from_config(const std::string& path, const std::vector<std::string>& overrides = {});
  /// The config in a checkpoint, and its variables: training continues as before. Errors: CheckpointError;
  /// ConfigError.
  static Learner from_checkpoint(const std::string& path);
  Learner(Learner&&) noexcept;
  Learner& operator=(Learner&&) noexcept;
  ~Learner();

  /// Trains on a batch, [N, ...] for each input; returns the statistics of this batch before the update.
  /// Ignores other names. A label that is not a class makes a cost NaN. Errors: ConfigError for missing
  /// inputs; ShapeError.
  Figures step(const Tensors& batch);
  /// Outputs for a batch: the named ones, or those of the config's `predict`. Errors: as NamedPredictor.
  Tensors predict(const Tensors& batch, const std::vector<std::string>& outputs = {});
  /// The statistics over one pass of a flow. Errors: as Evaluator.
  Figures evaluate(const DataFlow& flow);
  /// Saves variables, slots of the optimizer, and the number of steps; with a config, also the entries that
  /// `tpack infer` needs. Errors: ResourceError.
  void save(const std::string& path) const;
  /// Loads them. Errors: CheckpointError for variables that are missing, unknown or have a different shape.
  void load(const std::string& path);

  /// The number of finished steps.
  int64_t global_step() const;
  /// A flow of the config. Errors: ConfigError with a suggestion.
  const DataFlow& flow(const std::string& name) const;
  VariableStore& variables();

 private:
  struct Parts;
  explicit Learner(std::unique_ptr<Parts> parts);

  std::unique_ptr<Parts> parts_;
};

}  // namespace tpack
