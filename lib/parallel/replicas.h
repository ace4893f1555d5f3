#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "backend/device.h"
#include "backend/program.h"
#include "comm/comm.h"
#include "graph/tower_function.h"
#include "optim/training_graph.h"
#include "optim/update.h"

namespace tpack {

struct ReplicaOptions {
  /// Makes the device of local tower k. `threads`: the number of threads of the tower, the same for all; its
  /// thread is bound to their processors.
  std::function<std::unique_ptr<Device>(size_t tower, int threads)> make_device;
  size_t towers = 1;  // of this process, one device each
  /// The part of the processors for each tower, out of `towers` equal parts; empty: in order.
  std::vector<size_t> processor_parts = {};
  Comm* world = nullptr;  // processes with the same number of towers each; null: only this one
  /// Where several towers of a process keep their variables.
  enum class Variables : uint8_t {
    kReplicated,  // each has all of them and updates them itself
    kShared       // the first one has them and updates them (a parameter server)
  };
  Variables variables = Variables::kReplicated;
  bool average = true;     // the gradient is the mean over the replicas; false: the sum
  int64_t accumulate = 1;  // batches of each tower in a step, whose gradients are averaged
  /// Size of the parts, in bytes, in which gradients are summed between processes, each as soon as backward
  /// has computed it; 0: all at once, after backward.
  int64_t bucket_bytes = kDefaultBucketBytes;
  static constexpr int64_t kDefaultBucketBytes = int64_t{4} << 20U;
  Compression compression = Compression::kNone;  // of gradients between processes
  uint64_t seed = 0;
  std::vector<std::string> fetches = {};  // outputs of the tower that each step keeps, besides its statistics
};

/// Replicas of one tower function that train together, one on each device: the common part of all ways to
/// share gradients.
///
///   replicas.declare(signature);     // which variables and statistics there are
///   replicas.build(signature);       // compiled programs, memory of the variables
///   replicas.initialize();           // or load a checkpoint
///   for (...) replicas.step(step, [&](size_t k, int64_t) { return batch[k]; });
///
/// Threads: one caller; towers have their own threads.
class Replicas {
 public:
  /// Tower, optimizers and plan must outlive it. Choices are added to the plan by replica 0 and used by all.
  Replicas(const TowerFunction& tower, std::vector<Update> updates, Plan& plan, ReplicaOptions options);
  virtual ~Replicas() = default;
  Replicas(const Replicas&) = delete;
  Replicas& operator=(const Replicas&) = delete;

  /// Declares the variables by building the graphs once; the names of the tower's statistics. Errors:
  /// ConfigError, ShapeError.
  std::vector<std::string> declare(const Signature& signature);
  /// After declare: allocates the variables (zeros) and compiles the programs for batches of this signature,
  /// and for smaller ones (the remainder of a pass). Errors: ConfigError, ShapeError, ResourceError,
  /// DistributedError.
  virtual void build(const Signature& signature, const std::vector<Signature>& smaller) = 0;
  /// Sets the initial values of variables, those of replica 0 everywhere. Errors: DistributedError.
  virtual void initialize() = 0;

  /// The next batch of a local tower, the one of this number in its step (0, or up to `accumulate` - 1);
  /// empty to end. Called on the tower's own thread; the batch before is no longer used then.
  using Batches = std::function<std::span<const Tensor>(size_t tower, int64_t number)>;
  /// One step. False if some tower had no batch.
  virtual bool step(int64_t global_step, const Batches& batches) = 0;

  /// Called in each step with the first batch of local tower 0, before any computation or update, on that
  /// tower's thread, which may run programs of `device()` meanwhile.
  using Watch = std::function<void(std::span<const Tensor> batch, const RunInfo& info)>;
  void watch(Watch watch) { watch_ = std::move(watch); }
  /// The last batch of a local tower; valid until the next step. Empty before the first step.
  virtual std::span<const Tensor> last_batch(size_t tower) const = 0;
  /// The parameters of the last step for its programs (except ReplicaAverage).
  RunInfo last_info(size_t tower) const {
    return {options_.seed, last_step_, (options_.accumulate - 1) * replicas() + replica(tower)};
  }

  /// From now on, an update with a NaN or infinite element in its gradient is not applied: its variables,
  /// slots and moving averages do not change, on all replicas. Costs a pass over the gradient. Before build.
  void guard_updates() { guards_ = true; }
  /// Updates that the last step did not apply for this reason.
  const std::vector<size_t>& skipped_updates() const { return skipped_; }
  /// The factor that the optimizer applies to the gradient in the variables of `device()`, to get the mean.
  double gradient_scale() const {
    return 1.0 / static_cast<double>((options_.average ? replicas() : 1) * options_.accumulate);
  }

  /// The first replica that had no batch, after a step that returned false.
  virtual int64_t ended_on() const { return 0; }

  /// Samples of all steps of the towers of this process.
  virtual int64_t samples() const = 0;
  size_t local_towers() const { return options_.towers; }
  int64_t replicas() const;
  /// Global number of local tower k.
  int64_t replica(size_t tower) const;
  /// Batches of a step on all replicas together.
  int64_t batches_of_step() const { return replicas() * options_.accumulate; }
  /// A statistic in the last step in which its update ran; lazily read. Valid until the next call.
  const Tally& statistic(size_t index) const;
  std::optional<Goal> goal_of_statistic(size_t index) const { return statistics_[index].goal; }
  /// False if the update that computes the statistic was not due in the last step, or was skipped.
  bool statistic_is_of_last_step(size_t index) const { return ran_in_last_step(statistics_[index].update); }
  /// The same for an update.
  bool ran_in_last_step(size_t update) const {
    return was_due_in_last_step(update) &&
           std::find(skipped_.begin(), skipped_.end(), update) == skipped_.end();
  }
  /// True also if it was skipped, because its gradient was not finite.
  bool was_due_in_last_step(size_t update) const { return updates_[update].schedule.includes(last_step_); }
  /// An output from ReplicaOptions::fetches: of tower 0 and its last batch.
  virtual const Tensor& fetched(const std::string& name) const = 0;
  /// Sets a statistic to its value in an earlier process, because its update may skip the next steps.
  void set_statistic(size_t index, const std::vector<double>& parts);

  /// Copies the variables of replica 0 to all, except local ones (VariableScope::kLocal).
  virtual void broadcast() = 0;
  /// The device of a tower.
  virtual Device& device(size_t tower) const = 0;
  /// The device with the variables; callbacks run the tower on it.
  virtual Device& device() const { return device(0); }
  /// How many devices may run a program of the tower at the same time between steps: `on_towers`.
  virtual size_t idle_towers() const { return 1; }
  /// Calls work(k) for each of them, at the same time, on the thread of tower k; k means `device(k)`, or the
  /// device with the variables if it is the only one. Errors: the first one thrown.
  virtual void on_towers(const std::function<void(size_t)>& work) { work(0); }
  VariableTable& variable_table() { return table_; }
  VariableStore& variables() const { return device().variables(); }
  Plan& plan() { return plan_; }
  /// The programs of a step of a tower in order, each compiled for the signature of its last run. After
  /// build.
  virtual std::vector<NamedExecutable> executables(size_t tower) const = 0;
  /// Bytes of the variables on all devices, with gradients and slots. After build.
  virtual uint64_t variable_bytes() const = 0;

 protected:
  /// Where a statistic is fetched.
  struct FetchedStatistic {
    size_t update = 0;
    size_t number = 0;    // of those that the update fetches
    mutable Tally tally;  // when it was read last
    std::optional<Goal> goal;
  };

  /// Rejects a model that these replicas cannot train. Errors: ConfigError.
  virtual void check(const Graph& /*model*/) const {}
  bool has_processes() const { return options_.world != nullptr && options_.world->size() > 1; }
  /// Sets the tally of a statistic to the last run of its update; no change if there was none in this
  /// process.
  virtual void read(const FetchedStatistic& statistic) const = 0;
  /// Adds the fetches of a backward program. Statistics are its first fetches, each as sum and weight.
  static void add_fetched(const Executable& done, size_t number, Tally& tally) {
    tally.add(done.fetched(2 * number), done.fetched(2 * number + 1));
  }
  /// Makes the variables of a device, or calls `make` instead. Errors: ResourceError with the largest
  /// variable.
  void create_variables(Device& device, const std::function<void()>& make = nullptr) const;
  /// The program of an update that computes its gradient. With Averages::kStay it has a different name,
  /// because it is a different program.
  std::unique_ptr<Program> backward_program(size_t update, Device& device, Averages averages,
                                            const std::shared_ptr<std::mutex>& compiling);
  /// The program that applies it. `devices`: how many work on it.
  std::unique_ptr<Program> update_program(size_t update, Device& device,
                                          const std::shared_ptr<std::mutex>& compiling, size_t devices = 1);
  /// The one that tells whether its gradient is finite.
  std::unique_ptr<Program> check_program(size_t update, Device& device,
                                         const std::shared_ptr<std::mutex>& compiling, size_t devices = 1);
  /// Runs it.
  static bool is_finite(Program& check, const RunInfo& info);
  /// Warns of a plan that was made on another CPU (which rank 0 may also have), or for a different program.
  void warn_of_a_foreign_plan(const Signature& signature) const;
  /// The processors that each local tower is bound to; empty if there is only one.
  std::vector<std::vector<int>> processors_of_towers() const;

  const TowerFunction& function_;
  std::vector<Update> updates_;
  TrainingGraphs graphs_;
  Plan& plan_;
  ReplicaOptions options_;
  std::vector<FetchedStatistic> statistics_;
  VariableTable table_;
  int64_t last_step_ = 0;
  Watch watch_;
  bool guards_ = false;
  bool counts_differ_ = false;   // between batches of the same size, because some losses do not count
  std::vector<size_t> skipped_;  // updates of the last step

 private:
  void reject_nested_names() const;
};

}  // namespace tpack
