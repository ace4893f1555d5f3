#pragma once

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "backend/open_device.h"
#include "parallel/data_parallel.h"
#include "support/small_model.h"
#include "testkit/gradient_check.h"

/// Trains a small model on one device, on towers or on ranks, with the same samples in each step.
namespace tpack {

constexpr int64_t kReplicaBatch = 6;  // of one replica of two
constexpr int64_t kReplicaSteps = 20;

using Variables = std::map<std::string, Tensor>;

/// How a training runs; all variants see the same samples.
struct Setting {
  enum class Backend : uint8_t { kReference, kCpu };
  Backend backend = Backend::kReference;
  size_t towers = 1;
  Comm* world = nullptr;
  std::string optimizer = "SGD: {learning_rate: 0.3}";
  ReplicaOptions::Variables variables = ReplicaOptions::Variables::kReplicated;
  bool average = true;
  int64_t accumulate = 1;
  int64_t bucket_bytes = ReplicaOptions::kDefaultBucketBytes;
  Compression compression = Compression::kNone;
  std::string model = kSmallModel;
};

/// With statistics over the batches of all replicas.
inline const char* const kNormalizedModel = R"(
inputs:
  x: {shape: [5]}
  label: {shape: [], dtype: int32}
layers:
  - FullyConnected: {name: fc0, units: 7}
  - BatchNorm: {name: bn, sync_statistics: true}
  - Tanh: {}
  - FullyConnected: {name: fc1, units: 3}
cost:
  - SoftmaxCrossEntropy: {logits: fc1, labels: label}
)";

/// A third of the labels does not count, and now and then none of a batch does.
inline std::string model_with_ignored_labels() {
  std::string model = kSmallModel;
  model.replace(model.find("labels: label}"), 14, "labels: label, ignore_label: 0}");
  return model;
}

/// The samples of a step: each of two replicas gets half of them.
inline std::vector<Tensor> samples(int64_t step, DType type) {
  const auto seed = static_cast<uint64_t>(step);
  return {testkit::random_tensor({2 * kReplicaBatch, 5}, 100 + seed, type),
          testkit::random_labels(2 * kReplicaBatch, 3, 200 + seed)};
}

/// The model's inputs have the backend's float type here, so that double really is double.
inline std::unique_ptr<TowerFunction> model_for(Setting::Backend backend, std::string yaml = kSmallModel) {
  const std::string input = "x: {shape: [5]";
  if (backend == Setting::Backend::kReference)
    yaml.replace(yaml.find(input), input.size(), input + ", dtype: float64");
  return model_of(yaml);
}

inline Variables train(const Setting& setting) {
  const bool reference = setting.backend == Setting::Backend::kReference;
  const DType type = reference ? DType::kFloat64 : DType::kFloat32;
  const auto model = model_for(setting.backend, setting.model);
  const auto optimizer = optimizer_of(setting.optimizer);
  Plan plan;
  ReplicaOptions options;
  options.make_device = [&](size_t k, int /*threads*/) {
    const DeviceOptions device{type, DeviceOptions::Algorithm::kDirect, 1};
    const std::string name = "cpu:" + std::to_string(k);
    return reference ? make_reference_device(name, device) : open_device(name, device);
  };
  options.towers = setting.towers;
  options.world = setting.world;
  options.variables = setting.variables;
  options.average = setting.average;
  options.accumulate = setting.accumulate;
  options.bucket_bytes = setting.bucket_bytes;
  options.compression = setting.compression;
  options.seed = 3;
  DataParallel replicas(*model, {{.optimizer = optimizer.get()}}, plan, std::move(options));
  const int64_t batch = 2 * kReplicaBatch / replicas.batches_of_step();
  const Signature signature = {{type, {batch, 5}}, {DType::kInt32, {batch}}};
  replicas.declare(signature);
  replicas.build(signature);
  replicas.initialize();
  const Tensor first_weights = replicas.variables().tensor("@parameters").clone();
  std::vector<std::vector<Tensor>> fed(setting.towers);
  for (int64_t step = 0; step < kReplicaSteps; ++step) {
    const std::vector<Tensor> all = samples(step, type);
    std::vector<int64_t> taken(setting.towers, 0);
    const DataParallel::Batches batches = [&](size_t k, int64_t /*number*/) -> std::span<const Tensor> {
      const int64_t first = (taken[k]++ * replicas.replicas() + replicas.replica(k)) * batch;
      fed[k] = {all[0].rows(first, first + batch), all[1].rows(first, first + batch)};
      return fed[k];
    };
    EXPECT_TRUE(replicas.step(step, batches));
  }
  Variables variables;
  for (const std::string& name : replicas.variables().names(VariableScope::kModel))
    variables[name] = replicas.variables().tensor(name).clone();
  EXPECT_GE(variables.size(), 4U);
  EXPECT_FALSE(bit_equal(replicas.variables().tensor("@parameters"), first_weights)) << "nothing was trained";
  return variables;
}

/// Largest difference over largest weight.
inline double distance(const Variables& a, const Variables& b) {
  double difference = 0;
  double largest = 0;
  for (const auto& [name, value] : a) {
    const double here = max_difference(value, b.at(name));
    if (std::isnan(here)) return here;
    difference = std::max(difference, here);
    for (int64_t i = 0; i < value.elements(); ++i) largest = std::max(largest, std::abs(value.at(i)));
  }
  return difference / largest;
}

inline void expect_same_bits_five_times(const Setting& setting) {
  const Variables first = train(setting);
  for (int repeat = 1; repeat < 5; ++repeat) {
    for (const auto& [name, value] : train(setting)) EXPECT_TRUE(bit_equal(value, first.at(name))) << name;
  }
}

}  // namespace tpack
