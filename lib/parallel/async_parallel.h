#pragma once

#include <memory>
#include <vector>

#include "parallel/replicas.h"

namespace tpack {

/// Replicas that do not wait for each other. Each tower copies the variables, computes the gradient of its
/// batch, and applies it to the variables of an additional device, the server, regardless of changes by
/// others. Copying and applying exclude each other, computing does not. With ReplicaOptions::average,
/// gradients are divided by the number of towers. Results depend on the timing of the threads. Source:
/// tensorpack's AsyncMultiGPUTrainer; Dean et al. 2012 (Downpour SGD).
///
/// Steps are those of tower 0; the other towers run as many as they can. Between steps no variable changes:
/// the others continue to compute, and wait before they apply.
class AsyncParallel final : public Replicas {
 public:
  /// Errors: ConfigError for several processes, or several batches per step; errors of opening a device.
  AsyncParallel(const TowerFunction& tower, std::vector<Update> updates, Plan& plan, ReplicaOptions options);
  /// Ends the towers after their current step: a waiting call of `batches` must end.
  ~AsyncParallel() override;

  void build(const Signature& signature, const std::vector<Signature>& smaller) override;
  void initialize() override;
  /// `batches` must be the same in every step, and outlive this object, because the other towers continue to
  /// call it. Errors: the first one of any tower.
  bool step(int64_t global_step, const Batches& batches) override;
  std::span<const Tensor> last_batch(size_t tower) const override;
  int64_t samples() const override;
  const Tensor& fetched(const std::string& name) const override;
  /// Does nothing, because the variables are in one place.
  void broadcast() override {}
  Device& device(size_t tower) const override;
  Device& device() const override;
  std::vector<NamedExecutable> executables(size_t tower) const override;
  uint64_t variable_bytes() const override;
  /// Steps of a tower in this process.
  int64_t steps_of(size_t tower) const;

 protected:
  /// None may wait for the others, and none is at the end of a step when a checkpoint is written.
  void check(const Graph& model) const override;

 private:
  struct Tower;
  struct Server;

  void read(const FetchedStatistic& statistic) const override;
  void run_on_thread(size_t tower);
  bool step_of(size_t tower);
  void take_variables(Tower& tower) const;
  void apply(size_t tower, size_t update, const RunInfo& info);
  void end();

  std::unique_ptr<Server> server_;
  std::vector<std::unique_ptr<Tower>> towers_;
};

}  // namespace tpack
