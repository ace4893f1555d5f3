// A network whose inputs have 200 different lengths: what the process holds does not grow once it has met
// them, and the plan has the first one only.
#include "backend/open_device.h"
#include "nn/nn.h"
#include "parallel/data_parallel.h"
#include "standalone/expect.h"
#include "system/machine.h"

namespace tpack {
namespace {

constexpr int64_t kBatch = 8;
constexpr int64_t kLengths = 200;
constexpr int64_t kSteps = 2000;
constexpr uint64_t kSeed = 3;

/// x [N, 8, 1, length], label [N].
TowerResult network(Builder& b, const std::map<std::string, Symbol>& in) {
  Symbol x = nn::conv2d(b, in.at("x"), "conv", {.filters = 16, .kernel = {1, 5}, .activation = nn::relu});
  x = nn::batch_norm(b, x, "bn");
  x = nn::max_pooling(b, x, {.window = {1, 2}});
  x = nn::relu(b, nn::conv2d(b, x, "conv2", {.filters = 16, .kernel = {1, 5}}));
  const Symbol logits = nn::dense(b, nn::global_avg_pooling(b, x), "logits", {.units = 2});
  const Symbol cost = nn::cross_entropy(b, logits, in.at("label"));
  return {.costs = {{kCost, cost}}, .statistics = {nn::cost_statistic(b, cost, kBatch)}};
}

std::vector<Tensor> batch_of(int64_t length) {
  Rng rng(mix(kSeed, static_cast<uint64_t>(length)));
  std::vector<Tensor> batch = {Tensor(DType::kFloat32, {kBatch, 8, 1, length}),
                               Tensor::zeros({DType::kInt32, {kBatch}})};
  for (float& x : batch[0].span<float>()) x = static_cast<float>(rng.normal());
  for (int64_t i = 0; i < kBatch; ++i) batch[1].data<int32_t>()[i] = static_cast<int32_t>(i % 2);
  return batch;
}

double megabytes() { return static_cast<double>(resident_memory()) / 1e6; }

int run() {
  const nn::FunctionTower tower(
      {{"x", "x", {DType::kFloat32, {8, 1, 20}}}, {"label", "label", {DType::kInt32, {}}}}, network);
  const auto optimizer = Registry<Optimizer>::make("Momentum", {{"learning_rate", 0.01}});
  ReplicaOptions options;
  options.make_device = [](size_t k, int threads) {
    return open_device("cpu:" + std::to_string(k),
                       DeviceOptions{.algorithm = DeviceOptions::Algorithm::kDirect, .threads = threads});
  };
  options.seed = kSeed;
  Plan plan;
  DataParallel towers(tower, {{.optimizer = optimizer.get()}}, plan, std::move(options));
  const Signature first = signature_of(batch_of(20));
  towers.declare(first);
  towers.build(first);
  towers.initialize();
  std::vector<Tensor> batch;
  double met_all = 0;
  double after_1000 = 0;
  for (int64_t step = 0; step < kSteps; ++step) {
    batch = batch_of(20 + (step * 37) % kLengths);  // 37 has no divisor in common with 200: each comes up
    towers.step(step, [&](size_t /*k*/, int64_t /*number*/) -> std::span<const Tensor> { return batch; });
    if (step + 1 == kLengths) met_all = megabytes();
    if (step + 1 == kSteps / 2) after_1000 = megabytes();
  }
  const double end = megabytes();
  std::printf("memory: %.1f MB when all lengths were met, %.1f MB after 1000 steps, %.1f MB after 2000\n",
              met_all, after_1000, end);
  std::printf("sections of the plan: %zu\n", plan.sections.size());
  Expectations check;
  check.expect(end <= 1.05 * met_all + 4, "the memory does not grow");
  check.expect(plan.sections.size() <= 2, "the plan has the programs of the first length");
  return check.exit_code();
}

}  // namespace
}  // namespace tpack

int main() { return tpack::run(); }
