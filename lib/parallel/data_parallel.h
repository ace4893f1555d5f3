#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "comm/local_group.h"
#include "parallel/replicas.h"
#include "parallel/tower_threads.h"

namespace tpack {

/// Synchronous replicas. In each update of a step every replica computes the gradient of its own batches,
/// gradients are summed in the order of the replicas, and the mean is applied. Towers of a process with
/// devices that can share memory have one optimizer state: the first one applies the mean, with the help of
/// the threads of the others, which copy the result unless they also share the variables. Other replicas have
/// separate states. One device is the case of one replica. Can be used without a trainer.
class DataParallel final : public Replicas {
 public:
  /// Errors: ConfigError; errors of opening a device.
  DataParallel(const TowerFunction& tower, std::vector<Update> updates, Plan& plan, ReplicaOptions options);
  ~DataParallel() override;

  void build(const Signature& signature, const std::vector<Signature>& smaller) override;
  void build(const Signature& signature) { build(signature, {}); }
  void initialize() override;
  /// `batches` is called `accumulate` times for each tower. False if some replica had no batch: then no
  /// variable was updated (except moving averages, if the step had earlier batches).
  bool step(int64_t global_step, const Batches& batches) override;
  std::span<const Tensor> last_batch(size_t tower) const override;
  int64_t samples() const override;
  const Tensor& fetched(const std::string& name) const override;
  void broadcast() override;
  Device& device(size_t tower) const override;
  using Replicas::device;
  size_t idle_towers() const override { return local_towers(); }
  void on_towers(const std::function<void(size_t)>& work) override;
  std::vector<NamedExecutable> executables(size_t tower) const override;
  std::vector<NamedExecutable> executables() const { return executables(0); }
  int64_t ended_on() const override;
  uint64_t variable_bytes() const override;

 private:
  struct Tower;
  struct Bucket;
  struct UpdatePrograms;

  std::vector<UpdatePrograms> make_programs(size_t tower, const std::shared_ptr<std::mutex>& compiling);
  std::vector<std::pair<Tensor, Tensor>> assigned_by_backward(size_t tower, size_t update);
  void make_buckets(size_t tower, size_t update, UpdatePrograms& programs);
  void reduce_bucket(size_t tower, size_t update, size_t number);
  bool shares_variables() const { return options_.variables == ReplicaOptions::Variables::kShared; }
  /// True for a tower that uses the optimizer of the first one.
  bool is_worker(size_t tower) const { return tower > 0 && updates_once_; }
  bool take_batch(size_t tower, int64_t number, const Batches& batches);
  void step_of(size_t tower, int64_t global_step, const Batches& batches);
  void backward(size_t tower, size_t update, int64_t number, const RunInfo& info);
  void weigh(Tower& tower, UpdatePrograms& programs) const;
  void reduce(Tower& tower, UpdatePrograms& programs);
  void run_update(UpdatePrograms& programs, const RunInfo& info);
  void apply(size_t tower, size_t update, const RunInfo& info);
  void update_once(size_t tower, size_t update, const RunInfo& info);
  void read(const FetchedStatistic& statistic) const override;

  std::unique_ptr<LocalGroup> group_;       // of several towers
  bool weighs_ = false;                     // batches of a step count differently
  bool updates_once_ = false;               // one optimizer state for all towers of the process
  std::atomic<uint32_t> updates_made_ = 0;  // of the first tower, for the others; each tower has as many
  std::vector<std::unique_ptr<Tower>> towers_;
  std::unique_ptr<TowerThreads> threads_;
};

}  // namespace tpack
