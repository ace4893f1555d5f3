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
  int64_t batch_size = 1;  // for learning rates in proportion to it; other batches may come
  // For learning rates that follow a schedule:
  int64_t steps_per_epoch = 1;
  int64_t max_epoch = 1;
};

/// A model with its variables, on one device, and what trains it: for loops of one's own. It owns everything
/// that it is made of.
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
  /// sections are left out. Errors: as `tpack check`.
  static Learner from_config(const std::string& path, const std::vector<std::string>& overrides = {});
  /// The config in a checkpoint, and its variables: the next step is what it would have been. Errors:
  /// CheckpointError; ConfigError.
  static Learner from_checkpoint(const std::string& path);
  Learner(Learner&&) noexcept;
  Learner& operator=(Learner&&) noexcept;
  ~Learner();

  /// Trains on a batch, [N, ...] for each input; the statistics of that batch, before the update. Errors:
  /// ConfigError for inputs that are missing; ShapeError.
  Figures step(const Tensors& batch);
  /// Outputs for a batch: those named, or those of the config's `predict`. Errors: as NamedPredictor.
  Tensors predict(const Tensors& batch, const std::vector<std::string>& outputs = {});
  /// The statistics over one pass of a flow. Errors: as Evaluator.
  Figures evaluate(const DataFlow& flow);
  /// Variables, slots of the optimizer, and the number of steps; of a config also what `tpack infer` needs.
  /// Errors: ResourceError.
  void save(const std::string& path) const;
  /// Takes them back. Errors: CheckpointError for variables that are missing, of another shape, or too many.
  void load(const std::string& path);

  /// Steps that were done.
  int64_t global_step() const;
  /// The flow of a config. Errors: ConfigError with suggestion.
  const DataFlow& flow(const std::string& name) const;
  VariableStore& variables();

 private:
  struct Parts;
  explicit Learner(std::unique_ptr<Parts> parts);

  std::unique_ptr<Parts> parts_;
};

}  // namespace tpack
