#pragma once

#include <map>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "dataflow/spec.h"
#include "train/trainer.h"

namespace tpack {

/// Base of trainers that fit one component of the data without a gradient: KMeans, PCA. Such a trainer makes
/// a small tower, whose program computes the large products on the device, and uses their values in `fit`.
/// The base class handles data, device, ranks and checkpoints.
///
/// Each rank reads different batches, as in Horovod; `fit` adds sums over the ranks, so that all have the
/// same variables.
class BatchTrainer : public Trainer,
                     public StepStatistics,
                     public TrainedVariables,
                     public TrainedModel,
                     public StepData,
                     public StepPrograms {
 public:
  Needs needs() const override { return {.data = true, .model = false, .optimizer = false}; }
  /// Errors: ConfigError, at the component's position if it cannot be used.
  void setup(const TrainSetup& setup) override;
  void compile() override;
  void initialize() override;
  bool step(int64_t global_step, const std::stop_token& stop) override;
  std::string end_of_data() const override;
  std::optional<int64_t> steps_per_pass() const override;
  StepSize step_size() const override;
  int64_t samples() const override { return samples_; }
  double waited_s() const override;
  std::optional<InputQueue> input_queue() const override;
  VariableStore* variables() const override { return compiled() ? &device_->variables() : nullptr; }
  void share_variables() override;
  std::optional<TowerBatch> last_batch(size_t tower) const override;
  std::optional<ModelHandle> model_handle() override;
  std::unique_ptr<TowerFunction> stored_tower(const CheckpointContent& content,
                                              const std::string& source) const override;
  std::vector<NamedExecutable> programs() const override;
  TrainerMemory memory() const override;
  void save(CheckpointContent& content) const override;
  void check_resumable(const CheckpointContent& content, const std::string& source) const override;
  void load(const CheckpointContent& content, const std::string& source) override;

 protected:
  struct Choice {
    ComponentRef component;
    Ref<DeviceName> device;
  };
  virtual Choice choice() const = 0;
  /// The tower on a component. Its variables are not trainable. Errors: ConfigError.
  virtual std::unique_ptr<TowerFunction> make_tower(const TowerInput& input) const = 0;
  /// The outputs of the tower in training that `fit` reads.
  virtual std::vector<std::string> fetches() const = 0;
  /// The state of the next step besides the variables, by name; zeros at first, saved with the checkpoint.
  virtual std::map<std::string, Tensor> arrays() const = 0;
  /// Bytes on the host for the work of `fit`, without the variables and arrays.
  virtual uint64_t working_bytes() const = 0;
  /// A step on the batch of each rank: runs the program once or more and sets the variables. On every rank.
  /// Errors: Stopped and PeerInterrupted as in Trainer::step; then the saved state is that before the step.
  virtual void fit(int64_t global_step, const std::stop_token& stop) = 0;

  /// Values of one sample, in the tower's order. Available from setup on, like the following.
  int64_t features() const { return tower_->inputs()[0].spec.shape.elements(); }
  /// The component to learn from.
  const std::string& component() const { return tower_->inputs()[0].component; }
  /// Samples in a step, with whole batches on all ranks.
  int64_t batch_of_all() const;
  const TrainSetup& with() const { return setup_; }
  /// data.train.
  const DataFlow& data() const { return *data_; }
  Comm& world() const { return *setup_.world; }
  VariableStore& store() { return device_->variables(); }
  /// Runs the program on the batch of this step; the values of `fetches`, in their order.
  const Executable& run(int64_t global_step);
  /// Samples of that batch.
  int64_t batch_samples() const { return reader_->tensors()[0].shape()[0]; }

 private:
  bool compiled() const { return step_ != nullptr; }
  TowerInput input_of(const ComponentRef& ref);
  Signature signature(int64_t batch) const { return batch_specs(*tower_, batch); }
  void open(DataPosition position);

  TrainSetup setup_;
  const DataFlow* data_ = nullptr;
  size_t component_ = 0;
  std::unique_ptr<TowerFunction> tower_;
  VariableTable table_;
  std::unique_ptr<Device> device_;
  std::unique_ptr<Program> program_;
  Executable* step_ = nullptr;  // the program for whole batches
  std::unique_ptr<InputReader> reader_;
  DataPosition position_;
  int64_t samples_ = 0;
  int64_t last_step_ = 0;
  double waited_before_ = 0;  // by readers that were closed
  int ended_on_ = 0;          // the rank whose data ended
};

/// The values of each sample as one row. Shapes: x [N, ...] of any type -> [N, features], float.
Symbol rows_of(Builder& b, Symbol x);

/// Adds the fields of Choice to the schema of a trainer whose Params have them.
template <class P>
Schema<P> on_a_component(Schema<P> schema) {
  return schema
      .field("component", &P::component,
             "component of the datapoint to learn from: numbers of any shape, or images")
      .field("device", &P::device, "device for the products: cpu:0 for all processors of this process");
}

}  // namespace tpack
