// Functions of nn, gradient and optimizer in a hand-written `for`, without trainer and callbacks: on one
// device with explicit programs, and on two towers.
#include <algorithm>
#include <cmath>

#include "backend/open_device.h"
#include "nn/nn.h"
#include "optim/training_graph.h"
#include "parallel/data_parallel.h"
#include "standalone/expect.h"

namespace tpack {
namespace {

constexpr int64_t kBatch = 64;
constexpr int64_t kFeatures = 4;
constexpr int64_t kSteps = 300;
constexpr uint64_t kSeed = 7;

using Batch = std::vector<Tensor>;  // x [n, kFeatures], label [n]

TowerResult network(Builder& b, const std::map<std::string, Symbol>& in) {
  const Symbol hidden = nn::dense(b, in.at("x"), "hidden", {.units = 32, .activation = nn::relu});
  const Symbol logits = nn::dense(b, hidden, "logits", {.units = 2});
  const Symbol cost = nn::cross_entropy(b, logits, in.at("label"));
  return {.costs = {{kCost, cost}},
          .statistics = {nn::cost_statistic(b, cost, logits.shape()[0]),
                         nn::mean_statistic(b, "accuracy", nn::hits(b, logits, in.at("label")))}};
}

/// Points in a cube; class 1 if their distance from the center is more than 1.1, which no plane separates.
Batch make_batch(int64_t number, int64_t samples = kBatch) {
  Rng rng(mix(kSeed, static_cast<uint64_t>(number)));
  Batch batch = {Tensor(DType::kFloat32, {samples, kFeatures}), Tensor(DType::kInt32, {samples})};
  for (int64_t i = 0; i < samples; ++i) {
    float square = 0;
    for (float& x : batch[0].row(i).span<float>()) {
      x = static_cast<float>(2 * rng.uniform() - 1);
      square += x * x;
    }
    batch[1].data<int32_t>()[i] = square > 1.21F ? 1 : 0;
  }
  return batch;
}

Signature signature(int64_t samples) { return signature_of(make_batch(0, samples)); }

/// One device and its two programs, put together by hand.
class OneDevice {
 public:
  OneDevice(const TowerFunction& tower, const Optimizer& optimizer)
      : updates_{{.optimizer = &optimizer}},
        graphs_(tower, updates_),
        device_(open_device("cpu:0", DeviceOptions{.algorithm = DeviceOptions::Algorithm::kDirect})),
        backward_("backward", *device_, plan_,
                  [&](const Signature& fed) { return graphs_.backward(0, table_, fed, DType::kFloat32); }),
        update_("update", *device_, plan_,
                [&](const Signature& /*none*/) { return graphs_.update(0, table_, DType::kFloat32, 1.0); }) {
    graphs_.declare(table_, signature(kBatch), DType::kFloat32);
    device_->create_variables(table_);
    device_->variables().initialize(kSeed);
  }

  /// The mean of a statistic over the batch, before the update.
  double step(int64_t number, const Batch& batch, const std::string& statistic) {
    const Executable& done = backward_.run(batch, {.seed = kSeed, .step = number});
    update_.run({}, {.seed = kSeed, .step = number});
    return done.fetched(backward_.fetch_index(statistic + "/sum")).at(0) /
           done.fetched(backward_.fetch_index(statistic + "/weight")).at(0);
  }
  VariableStore& variables() { return device_->variables(); }

 private:
  std::vector<Update> updates_;
  TrainingGraphs graphs_;
  VariableTable table_;
  Plan plan_;
  std::unique_ptr<Device> device_;
  Program backward_;
  Program update_;
};

/// Largest difference of the weights over the largest weight.
double distance(const VariableStore& a, const VariableStore& b) {
  double difference = 0;
  double largest = 0;
  for (const std::string& name : a.names(VariableScope::kModel)) {
    difference = std::max(difference, max_difference(a.tensor(name), b.tensor(name)));
    for (const float w : a.tensor(name).span<float>())
      largest = std::max(largest, std::abs(static_cast<double>(w)));
  }
  return difference / largest;
}

void train_two_towers(const TowerFunction& tower, const Optimizer& optimizer, int64_t steps,
                      const VariableStore& one_device, Expectations& check) {
  ReplicaOptions options;
  options.make_device = [](size_t k, int /*threads*/) {
    return open_device("cpu:" + std::to_string(k),
                       DeviceOptions{.algorithm = DeviceOptions::Algorithm::kDirect});
  };
  options.towers = 2;
  options.seed = kSeed;
  Plan plan;
  DataParallel towers(tower, {{.optimizer = &optimizer}}, plan, std::move(options));
  towers.declare(signature(kBatch / 2));
  towers.build(signature(kBatch / 2));
  towers.initialize();
  check.expect(distance(one_device, towers.variables()) > 0.01, "training moved the weights");
  Batch halves[2];
  for (int64_t step = 0; step < steps; ++step) {
    const Batch whole = make_batch(step);
    for (int64_t k = 0; k < 2; ++k) {
      halves[k].clear();
      for (const Tensor& t : whole) halves[k].push_back(t.rows(k * kBatch / 2, (k + 1) * kBatch / 2));
    }
    towers.step(step, [&](size_t k, int64_t /*number*/) -> std::span<const Tensor> { return halves[k]; });
  }
  check.expect(distance(one_device, towers.variables()) <= 1e-5,
               "two towers with half a batch each go where one device goes");
}

int run() {
  Expectations check;
  const nn::FunctionTower tower(
      {{"x", "x", {DType::kFloat32, {kFeatures}}}, {"label", "label", {DType::kInt32, {}}}}, network);
  const auto optimizer = Registry<Optimizer>::make("Momentum", {{"learning_rate", 0.1}});
  OneDevice device(tower, *optimizer);
  double first = 0;
  for (int64_t step = 0; step < kSteps; ++step) {
    const double cost = device.step(step, make_batch(step), "cost");
    if (step == 0) first = cost;
    if (step == 19) train_two_towers(tower, *optimizer, 20, device.variables(), check);
    if (step == kSteps - 1) check.expect(cost < first / 2, "the cost falls to less than half");
  }
  const double accuracy = device.step(kSteps, make_batch(kSteps, 1000), "accuracy");
  std::printf("accuracy on 1000 new samples: %.3f\n", accuracy);
  check.expect(accuracy > 0.9, "the network has learnt");
  return check.exit_code();
}

}  // namespace
}  // namespace tpack

int main() { return tpack::run(); }
