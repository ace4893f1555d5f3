#include <cmath>

#include "checkpoint/layout.h"
#include "parallel/ranks.h"
#include "train/saved_state.h"
#include "train/trainer.h"

namespace tpack {
namespace {

struct MeanImageParams {
  std::string component = "image";
};

/// The mean of all samples so far. No model, optimizer or devices: a step is whatever the trainer does. Each
/// process of mpirun reads batches of its own; all have the same mean.
class MeanImage final : public Trainer, public StepStatistics, public TrainedVariables, public StepData {
 public:
  using Params = MeanImageParams;
  static Schema<Params> schema() {
    return Schema<Params>("Takes the mean of all samples.")
        .field("component", &Params::component, "component of the datapoint to average");
  }
  explicit MeanImage(Params p) : p_(std::move(p)) {}

  Needs needs() const override { return {.data = true, .model = false, .optimizer = false}; }

  void setup(const TrainSetup& setup) override {
    setup_ = setup;
    data_ = setup.train_flow();
    const Spec spec = data_->spec();
    component_ = spec.index({p_.component.c_str()}, "trainer MeanImage");
    if (!data_->batch_size()) throw ConfigError("trainer MeanImage: data.train has no BatchData");
    const TensorSpec& batch = spec[component_].tensor;
    const Shape sample = batch.shape.drop_front();
    nominal_ = {batch.dtype, sample.prepend(*data_->batch_size())};
    table_.declare({.name = "mean", .spec = {DType::kFloat32, sample}});
    table_.declare({.name = "sum", .spec = {DType::kFloat64, sample}, .scope = VariableScope::kOptimizer});
    table_.declare({.name = "count", .spec = {DType::kFloat64, {}}, .scope = VariableScope::kOptimizer});
    store_ = std::make_unique<VariableStore>(table_);
    totals_.resize(static_cast<size_t>(sample.elements()) + 1);
  }
  void initialize() override { open({}); }

  bool step(int64_t /*global_step*/, const std::stop_token& stop) override {
    const int missing = reader_->next(stop_if_alone(*setup_.world, stop)) ? 0 : 1;
    if (setup_.world->agree_max(missing, "the next batch") > 0) return false;
    const Tensor batch = reader_->tensors()[0].cast(DType::kFloat64);
    add_up(batch);
    setup_.world->all_reduce_sum(std::span<double>(totals_), "sums of the samples");
    move_mean();
    samples_ += batch.shape()[0];
    position_ = reader_->position();
    return true;
  }

  std::vector<StepStatistic> statistics() const override { return {{"change", false}}; }
  std::optional<double> statistic(size_t /*index*/) const override { return change_; }
  std::optional<int64_t> steps_per_pass() const override { return *data_->size() / setup_.world->size(); }
  StepSize step_size() const override {
    return {.batch = *data_->batch_size(), .ranks = setup_.world->size()};
  }
  int64_t samples() const override { return samples_; }
  double waited_s() const override { return reader_ ? reader_->waited_s() : 0; }
  VariableStore* variables() const override { return store_.get(); }

  void save(CheckpointContent& content) const override {
    save_variables(*store_, content);
    State data;
    save_position(position_, data);
    content.texts[layout::kData] = data.to_json();
  }
  void load(const CheckpointContent& content, const std::string& source) override {
    load_variables(content, source, *store_);
    open(load_position(data_state(content, source)));
  }

 private:
  void open(DataPosition position) {
    position_ = position;
    InputSetup input;
    input.flow = data_;
    input.components = {component_};
    input.nominal = {nominal_};
    input.seed = setup_.seed;
    input.replica = setup_.world->rank();
    input.replicas = setup_.world->size();
    input.position = position;
    reader_ = setup_.input->open(input);
  }

  void add_up(const Tensor& batch) {
    std::fill(totals_.begin(), totals_.end(), 0.0);
    for (int64_t i = 0; i < batch.shape()[0]; ++i) {
      auto total = totals_.begin();
      for (const double value : batch.row(i).span<double>()) *total++ += value;
    }
    totals_.back() = static_cast<double>(batch.shape()[0]);
  }

  void move_mean() {
    const std::span<double> sum = store_->tensor("sum").span<double>();
    const std::span<float> mean = store_->tensor("mean").span<float>();
    const double count = store_->number("count") + totals_.back();
    double change = 0;
    for (size_t i = 0; i < sum.size(); ++i) {
      sum[i] += totals_[i];
      const auto now = static_cast<float>(sum[i] / count);
      change += std::pow(static_cast<double>(now - mean[i]), 2);
      mean[i] = now;
    }
    store_->set_number("count", count);
    change_ = std::sqrt(change / static_cast<double>(sum.size()));
  }

  Params p_;
  TrainSetup setup_;
  const DataFlow* data_ = nullptr;
  size_t component_ = 0;
  TensorSpec nominal_;  // of a whole batch
  VariableTable table_;
  std::unique_ptr<VariableStore> store_;
  std::vector<double> totals_;  // of a step, over all processes: sums, and the number of samples
  std::optional<double> change_;
  std::unique_ptr<InputReader> reader_;
  DataPosition position_;
  int64_t samples_ = 0;
};

TPACK_REGISTER(Trainer, MeanImage, "MeanImage");

}  // namespace
}  // namespace tpack
