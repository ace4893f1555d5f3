#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "backend/device.h"
#include "backend/program.h"
#include "comm/comm.h"
#include "comm/local_group.h"
#include "graph/tower_function.h"
#include "input/input_source.h"
#include "optim/update.h"
#include "parallel/tower_threads.h"
#include "parallel/training_graph.h"

namespace tpack {

struct DataParallelOptions {
  /// Makes the device of local tower k. `threads`: what the tower has for itself, the same for all; its
  /// thread is bound to the processors for them.
  std::function<std::unique_ptr<Device>(size_t tower, int threads)> make_device;
  size_t towers = 1;  // on this machine, one device each
  /// On which of `towers` equal parts of the processors each tower runs; empty: in order.
  std::vector<size_t> processor_parts = {};
  Comm* world =
      nullptr;  // processes; null: this one alone. Several towers and several processes exclude each other.
  uint64_t seed = 0;
  std::vector<std::string> fetches = {};  // outputs of the tower that each step keeps, besides its statistics
};

/// Replicas of one tower function that train together. In each update of a step every replica computes the
/// gradient of its own batch, gradients are summed in the order of the replicas, and each applies the mean
/// with its own optimizer state. One device is the case of one replica. A library: no trainer is needed.
///
///   DataParallel replicas(tower, {{.optimizer = &optimizer}}, plan, options);
///   replicas.declare(signature);     // which variables and statistics there are
///   replicas.build(signature);       // compiled programs, memory of the variables
///   replicas.initialize();           // or values from a checkpoint
///   for (...) replicas.step(step, [&](size_t k) { return batch[k]; });
///
/// Threads: one caller; towers have threads of their own.
class DataParallel {
 public:
  /// Tower, optimizers and plan must outlive it. Choices are added to the plan by replica 0 and used by all.
  /// Errors: ConfigError for towers in each of several processes; what opening a device throws.
  DataParallel(const TowerFunction& tower, std::vector<Update> updates, Plan& plan,
               DataParallelOptions options);
  ~DataParallel();
  DataParallel(const DataParallel&) = delete;
  DataParallel& operator=(const DataParallel&) = delete;

  /// Declares the variables by building the graphs once; the names of the tower's statistics. Errors:
  /// ConfigError (for a local variable if there are several replicas, too), ShapeError.
  std::vector<std::string> declare(const Signature& signature);
  /// After declare: allocates the variables (zeros) and compiles the programs for batches of this signature,
  /// and for smaller ones that will come (the remainder of a pass). Errors: ConfigError, ShapeError,
  /// ResourceError, DistributedError.
  void build(const Signature& signature, const std::vector<Signature>& smaller = {});
  /// Gives the variables their initial values, those of replica 0 everywhere. Errors: DistributedError.
  void initialize();

  /// The batch of local tower k; empty to end. Called on the tower's own thread.
  using Batches = std::function<std::span<const Tensor>(size_t tower)>;
  /// One step of all replicas. False if some tower had no batch: nothing has changed then on this machine.
  bool step(int64_t global_step, const Batches& batches);

  /// Samples of all steps of the towers of this process.
  int64_t samples() const { return samples_; }
  size_t local_towers() const { return towers_.size(); }
  int64_t replicas() const;
  /// Global number of local tower k.
  int64_t replica(size_t tower) const;
  /// A statistic over the local towers, in the last step in which its update ran; lazily read. Valid until
  /// the next call.
  const Tally& statistic(size_t index) const;
  /// False if the update that computes the statistic was not due in the last step.
  bool statistic_is_of_last_step(size_t index) const {
    return last_step_ % updates_[statistics_[index].update].every == 0;
  }
  /// What a statistic was when another process ran its update last: an update may skip the next steps.
  void set_statistic(size_t index, const std::vector<double>& parts);
  /// The values that `fetches` asked for, of tower 0.
  const Tensor& fetched(const std::string& name) const;

  /// Gives the variables of replica 0 to all. None is local (VariableScope::kLocal) if there are several.
  void broadcast();
  Device& device(size_t tower = 0) const;
  VariableTable& variable_table() { return table_; }
  VariableStore& variables() const { return device(0).variables(); }
  Plan& plan() { return plan_; }
  /// The programs of a step in their order, each compiled for the signature that it ran with last. After
  /// build.
  std::vector<NamedExecutable> executables(size_t tower = 0) const;

 private:
  struct Tower;
  struct UpdatePrograms;
  /// Where a statistic is fetched.
  struct FetchedStatistic {
    size_t update = 0;
    size_t number = 0;    // of those that the update fetches
    mutable Tally tally;  // as it was when it was read last
  };

  std::vector<UpdatePrograms> make_programs(Device& device, const std::shared_ptr<std::mutex>& compiling);
  void step_of(size_t tower, int64_t global_step);
  void create_variables(Device& device) const;
  void refuse_local_variables() const;
  void refuse_nested_names() const;
  void warn_of_a_foreign_plan(const Signature& signature) const;
  /// Calls `build`, on ranks above 0 with the plan that rank 0 made.
  void share_plan(const std::function<void()>& build);

  const TowerFunction& function_;
  std::vector<Update> updates_;
  TrainingGraphs graphs_;
  Plan& plan_;
  DataParallelOptions options_;
  std::vector<FetchedStatistic> statistics_;
  VariableTable table_;
  std::unique_ptr<LocalGroup> group_;  // of several towers
  std::vector<std::unique_ptr<Tower>> towers_;
  std::unique_ptr<TowerThreads> threads_;
  int64_t samples_ = 0;
  int64_t last_step_ = 0;
};

}  // namespace tpack
