#pragma once

#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "parallel/replicas.h"
#include "tensor/state.h"
#include "train/agent_link.h"
#include "train/trainer.h"

namespace tpack {

/// Trains a model by gradients on replicas: their inputs, statistics, checkpoints. Simple, SyncMultiGPU,
/// AsyncMultiGPU and Horovod are this trainer with different choices (data_parallel_trainers.cpp).
class DataParallelTrainer : public Trainer,
                            public StepStatistics,
                            public TrainedVariables,
                            public TrainedModel,
                            public StepData,
                            public GradientUpdates,
                            public StepPrograms,
                            public ReplicaState {
 public:
  /// Where towers run and how they work together; see ReplicaOptions.
  struct Choice {
    std::vector<Ref<DeviceName>> devices;  // one for each tower of this process
    bool uses_world = false;               // the processes of mpirun train together
    ReplicaOptions::Variables variables = ReplicaOptions::Variables::kReplicated;
    bool average = true;
    int64_t bucket_bytes = ReplicaOptions::kDefaultBucketBytes;
    Compression compression = Compression::kNone;
    int64_t accumulate = 1;
    bool asynchronous = false;  // the towers do not wait for each other
    bool broadcast_every_epoch = false;
    double timeout_s = Comm::kDefaultTimeoutS;  // with uses_world
  };
  explicit DataParallelTrainer(Choice choice) : choice_(std::move(choice)) {}
  ~DataParallelTrainer() override;
  void setup(const TrainSetup& setup) override;
  void compile() override;
  void initialize() override;
  bool step(int64_t global_step, const std::stop_token& stop) override;
  std::string end_of_data() const override;
  std::vector<StepStatistic> statistics() const override;
  std::optional<double> statistic(size_t index) const override;
  std::optional<int64_t> steps_per_pass() const override;
  StepSize step_size() const override;
  int64_t samples() const override { return replicas_->samples(); }
  double waited_s() const override;
  std::optional<InputQueue> input_queue() const override;
  VariableStore* variables() const override { return compiled_ ? &replicas_->variables() : nullptr; }
  void share_variables() override;
  std::vector<std::string> hyper_parameters() const override;
  bool statistic_is_of_last_step(size_t index) const override {
    return index >= statistics_.size() || replicas_->statistic_is_of_last_step(index);
  }
  double hyper_parameter(const std::string& name) const override;
  void set_hyper_parameter(const std::string& name, double value) override;
  std::map<std::string, std::shared_ptr<const Schedule>> schedules() const override;
  std::optional<ModelHandle> model_handle() override;
  std::vector<ModelHandle> model_handles() override;
  void on_towers(const std::function<void(size_t)>& work) override { replicas_->on_towers(work); }
  void watch_batches(const std::function<void(const TowerBatch&)>& watch) override;
  std::optional<TowerBatch> last_batch(size_t tower) const override;
  void guard_updates() override { replicas_->guard_updates(); }
  std::vector<std::string> skipped_updates() const override;
  std::optional<double> gradient_scale(const std::string& variable) const override;
  void before_epoch() override;
  bool saves_together() const override;
  void gather() override;
  void save(CheckpointContent& content) const override;
  void check_resumable(const CheckpointContent& content, const std::string& source) const override;
  void load(const CheckpointContent& content, const std::string& source) override;
  std::vector<NamedExecutable> programs() const override { return replicas_->executables(0); }
  TrainerMemory memory() const override;
  /// What it trains, from setup on.
  const Replicas& replicas() const { return *replicas_; }

 private:
  Signature signature(int64_t batch) const;
  std::optional<Signature> signature_of_data(Signature declared) const;
  void connect_agent();
  void open_inputs(DataPosition position);
  std::vector<std::string> local_variables() const;
  void load_local_variables(const CheckpointContent& content, const std::string& source);

  TrainSetup setup_;
  Choice choice_;
  const DataFlow* data_ = nullptr;
  std::unique_ptr<AgentLink> agent_;  // null: the data come from elsewhere
  std::unique_ptr<Replicas> replicas_;
  Replicas::Batches batches_;
  std::vector<std::function<void(const TowerBatch&)>> watches_;
  std::vector<size_t> components_;
  Signature signature_;
  std::vector<std::unique_ptr<InputReader>> readers_;  // by tower
  std::vector<std::string> statistics_;
  DataPosition position_;
  std::stop_source reading_;  // ends the readers
  bool compiled_ = false;
  double waited_before_ = 0;                // by readers that were closed
  std::map<std::string, Tensor> gathered_;  // local variables of replicas of other processes, by entry
};

}  // namespace tpack
