#pragma once

#include <memory>
#include <string>
#include <vector>

#include "parallel/data_parallel.h"
#include "train/state.h"
#include "train/trainer.h"

namespace tpack {

/// What the trainers of a model have in common: replicas, their inputs, statistics, checkpoints. Simple,
/// SyncMultiGPU and Horovod only say which devices there are.
class DataParallelTrainer : public Trainer {
 public:
  void setup(const TrainSetup& setup) override;
  void compile() override;
  void initialize() override;
  bool step(int64_t global_step, const std::stop_token& stop) override;
  std::vector<StepStatistic> statistics() const override;
  std::optional<double> statistic(size_t index) const override;
  std::optional<int64_t> steps_per_pass() const override;
  StepSize step_size() const override;
  int64_t samples() const override { return replicas_->samples(); }
  double waited_s() const override;
  VariableStore* variables() override { return &replicas_->variables(); }
  void share_variables() override { replicas_->broadcast(); }
  std::vector<std::string> hyper_parameters() const override;
  bool statistic_is_of_last_step(size_t index) const override {
    return replicas_->statistic_is_of_last_step(index);
  }
  double hyper_parameter(const std::string& name) const override;
  void set_hyper_parameter(const std::string& name, double value) override;
  std::optional<TowerPlace> tower_place() override;
  void save(CheckpointContent& content) const override;
  void check_resumable(const CheckpointContent& content, const std::string& source) const override;
  void load(const CheckpointContent& content, const std::string& source) override;
  std::vector<NamedExecutable> programs() const override { return replicas_->executables(); }
  TrainerMemory memory() const override;
  /// What it trains, from setup on.
  const DataParallel& replicas() const { return *replicas_; }

 protected:
  /// The names of the devices of this process, "cpu:0" for each tower. `world` is what mpirun started.
  virtual std::vector<std::string> devices(Comm& world) const = 0;
  /// True if the processes of mpirun train together.
  virtual bool uses_world() const { return false; }

 private:
  void open_inputs(DataPosition position);

  TrainSetup setup_;
  const DataFlow* data_ = nullptr;
  std::unique_ptr<DataParallel> replicas_;
  std::vector<size_t> components_;
  Signature signature_;
  std::vector<std::unique_ptr<InputReader>> readers_;  // by tower
  std::vector<std::string> statistics_;
  DataPosition position_;
  bool compiled_ = false;
  double waited_before_ = 0;  // by readers that were closed
};

}  // namespace tpack
