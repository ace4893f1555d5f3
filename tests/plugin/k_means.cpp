#include <algorithm>
#include <cstring>
#include <limits>

#include "checkpoint/layout.h"
#include "train/saved_state.h"
#include "train/trainer.h"

namespace tpack {
namespace {

struct KMeansParams {
  int64_t clusters = 10;
  std::string component = "image";
};

/// Moves each center towards the samples of a batch that are nearest to it, each time by one over the number
/// of samples that it has had. No model, optimizer or devices: a step is whatever the trainer does. Source:
/// Sculley 2010, "Web-Scale K-Means Clustering".
class KMeans final : public Trainer {
 public:
  using Params = KMeansParams;
  static Schema<Params> schema() {
    return Schema<Params>("Clusters samples around centers.")
        .field("clusters", &Params::clusters, between(1, 100000), "number of centers")
        .field("component", &Params::component, "of the datapoint, what is clustered");
  }
  explicit KMeans(Params p) : p_(std::move(p)) {}

  Needs needs() const override { return {.data = true, .model = false, .optimizer = false}; }

  void setup(const TrainSetup& setup) override {
    setup_ = setup;
    data_ = setup.train_flow();
    const Spec spec = data_->spec();
    component_ = spec.index({p_.component.c_str()}, "trainer KMeans");
    const TensorSpec& batch = spec[component_].tensor;
    if (!data_->batch_size()) throw ConfigError("trainer KMeans: data.train has no BatchData");
    nominal_ = {batch.dtype, batch.shape.with(0, *data_->batch_size())};
    values_ = batch.shape.drop_front().elements();
  }
  void initialize() override {
    centers_ = Tensor::zeros({DType::kFloat32, {p_.clusters, values_}});
    counts_ = Tensor::zeros({DType::kInt64, {p_.clusters}});
    open({});
  }

  bool step(int64_t global_step, const std::stop_token& stop) override {
    if (!reader_->next(stop)) return false;
    const Tensor samples = reader_->tensors()[0].cast(DType::kFloat32);
    const int64_t count = samples.shape()[0];
    if (global_step == 0) take_first(samples);
    double distance = 0;
    for (int64_t i = 0; i < count; ++i) distance += learn(samples.row(i).data<float>());
    samples_ += count;
    inertia_ = distance / static_cast<double>(count * values_);
    return true;
  }

  std::vector<StepStatistic> statistics() const override { return {{"inertia", true}}; }
  std::optional<double> statistic(size_t /*index*/) const override { return inertia_; }
  std::optional<int64_t> steps_per_pass() const override { return data_->size(); }
  StepSize step_size() const override { return {*data_->batch_size(), 1, 1}; }
  int64_t samples() const override { return samples_; }
  double waited_s() const override { return reader_ ? reader_->waited_s() : 0; }

  void save(CheckpointContent& content) const override {
    content.tensors[layout::kModel + "centers"] = centers_;
    content.tensors[layout::kLocal + "counts"] = counts_;
    State data;
    save_position(reader_->position(), data);
    content.texts[layout::kData] = data.to_json();
  }
  void load(const CheckpointContent& content, const std::string& source) override {
    take(content, layout::kModel + "centers", centers_, source);
    take(content, layout::kLocal + "counts", counts_, source);
    open(load_position(State::from_json(content.texts.at(layout::kData), source)));
  }

 private:
  void open(DataPosition position) {
    InputSetup input;
    input.flow = data_;
    input.components = {component_};
    input.nominal = {nominal_};
    input.seed = setup_.seed;
    input.position = position;
    reader_ = setup_.input->open(input);
  }

  void take_first(const Tensor& samples) {
    for (int64_t k = 0; k < p_.clusters; ++k) {
      const Tensor from = samples.row(k % samples.shape()[0]);
      std::copy_n(from.data<float>(), values_, centers_.row(k).data<float>());
    }
  }

  /// Adds one sample; returns the square of its distance to the nearest center.
  double learn(const float* sample) {
    double best = std::numeric_limits<double>::max();
    int64_t nearest = 0;
    for (int64_t k = 0; k < p_.clusters; ++k) {
      const float* center = centers_.data<float>() + k * values_;
      double square = 0;
      for (int64_t v = 0; v < values_; ++v) square += (sample[v] - center[v]) * (sample[v] - center[v]);
      if (square < best) nearest = k;
      best = std::min(best, square);
    }
    const auto rate = 1.0F / static_cast<float>(++counts_.data<int64_t>()[nearest]);
    float* center = centers_.data<float>() + nearest * values_;
    for (int64_t v = 0; v < values_; ++v) center[v] += rate * (sample[v] - center[v]);
    return best;
  }

  static void take(const CheckpointContent& content, const std::string& name, const Tensor& into,
                   const std::string& source) {
    const auto found = content.tensors.find(name);
    if (found == content.tensors.end() || !(found->second.spec() == into.spec())) {
      throw CheckpointError(source, "has no " + name + " of " + into.spec().str());
    }
    std::memcpy(into.raw(), found->second.raw(), into.bytes());
  }

  Params p_;
  TrainSetup setup_;
  const DataFlow* data_ = nullptr;
  size_t component_ = 0;
  TensorSpec nominal_;  // of a whole batch
  int64_t values_ = 0;  // of a sample
  Tensor centers_;      // [clusters, values]
  Tensor counts_;       // [clusters]: samples that each center has had
  int64_t samples_ = 0;
  double inertia_ = 0;  // mean square of the distance, per value
  std::unique_ptr<InputReader> reader_;
};

TPACK_REGISTER(Trainer, KMeans, "KMeans");

}  // namespace
}  // namespace tpack
