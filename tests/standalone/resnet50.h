// ResNet-50 (He et al. 2015, the stride is in the 3x3 convolution), and a loop of one's own on two towers.
#pragma once
#include "backend/open_device.h"
#include "input/input_source.h"
#include "nn/nn.h"
#include "parallel/data_parallel.h"

namespace resnet50 {
using namespace tpack;  // NOLINT(google-build-using-namespace): as in a program of one's own

inline Symbol conv_bn(Builder& b, Symbol x, const std::string& name, const std::string& bn, int64_t filters,
                      int64_t kernel, int64_t stride = 1) {
  x = nn::conv2d(b, x, name,
                 {.filters = filters,
                  .kernel = kernel,
                  .stride = stride,
                  .use_bias = false,
                  .kernel_initializer = nn::variance_scaling({.mode = nn::FanMode::kFanOut})});
  return nn::batch_norm(b, x, bn);
}

inline Symbol bottleneck(Builder& b, Symbol x, const std::string& name, int64_t width, int64_t stride) {
  const Builder::NameScope scope(b, name);
  Symbol y = nn::relu(b, conv_bn(b, x, "conv1", "conv1_bn", width, 1));
  y = nn::relu(b, conv_bn(b, y, "conv2", "conv2_bn", width, 3, stride));
  y = conv_bn(b, y, "conv3", "conv3_bn", 4 * width, 1);
  if (x.shape()[1] != 4 * width) x = conv_bn(b, x, "shortcut/conv", "shortcut/bn", 4 * width, 1, stride);
  return nn::relu(b, b.add(y, x));
}

inline TowerResult network(Builder& b, const std::map<std::string, Symbol>& in) {
  Symbol x = b.add(b.mul(b.to_float(in.at("image")), 1.0 / 128), -1.0);
  x = nn::relu(b, conv_bn(b, x, "conv0", "conv0_bn", 64, 7, 2));
  x = nn::max_pooling(b, x, {.window = 3, .stride = 2, .padding = PaddingRule::kSame});
  for (size_t group = 0; group < 4; ++group) {
    const std::string name = "group" + std::to_string(group);
    const int64_t channels = int64_t{64} << group;
    x = bottleneck(b, x, name + "_0/block", channels, group == 0 ? 1 : 2);
    for (int block = 1; block < std::array{3, 4, 6, 3}[group]; ++block)
      x = bottleneck(b, x, name + "/" + std::to_string(block) + "/block/block", channels, 1);
  }
  const Symbol logits = nn::dense(b, nn::global_avg_pooling(b, x), "linear", {.units = 1000});
  const Symbol cost = nn::cross_entropy(b, logits, in.at("label"));
  return {.costs = {{kCost, cost}}, .statistics = {nn::cost_statistic(b, cost, x.shape()[0])}};
}

inline std::vector<TowerInput> inputs(int64_t side) {
  return {{"image", "image", {DType::kUInt8, {side, side, 3}}, true, "HWC"},
          {"label", "label", {DType::kInt32, {}}}};
}

/// Trains a network, in each step on a batch of the flow for each tower, and shows the result to `done`.
inline void train(const TowerFunction& tower, const DataFlow& flow, int64_t steps,
                  const std::function<void(const VariableStore&)>& done) {
  const auto optimizer = Registry<Optimizer>::make("Momentum", {{"learning_rate", 0.01}, {"momentum", 0.9}});
  ReplicaOptions options{.towers = 2, .seed = 1};
  options.make_device = [](size_t k, int threads) {
    return open_device("cpu:" + std::to_string(k),
                       DeviceOptions{.algorithm = DeviceOptions::Algorithm::kHeuristic, .threads = threads});
  };
  Plan plan;
  DataParallel towers(tower, {{.optimizer = optimizer.get()}}, plan, options);
  const Signature batch = batch_specs(tower, flow.batch_size().value());
  towers.declare(batch);
  towers.build(batch);
  towers.initialize();
  const auto queue = Registry<InputSource>::make("Queue");
  InputSetup setup{.flow = &flow, .nominal = batch, .seed = 1, .replicas = 2};
  setup.components = bind_inputs(tower.inputs(), flow.spec(), "train");
  std::vector<std::unique_ptr<InputReader>> readers;
  for (; setup.replica < 2; ++setup.replica) readers.push_back(queue->open(setup));
  for (int64_t step = 0; step < steps; ++step) {
    towers.step(step, [&](size_t k, int64_t /*number*/) {
      readers[k]->next({});  // one pass after the other, without end
      return readers[k]->tensors();
    });
    std::printf("step %d: cost %.6f\n", static_cast<int>(step), towers.statistic(0).value());
  }
  done(towers.variables());
}
}  // namespace resnet50
