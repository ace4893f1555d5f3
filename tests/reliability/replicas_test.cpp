// Replicas with batches of 8 learn what one device with their batches together learns.
#include <algorithm>

#include "comparison.h"
#include "training.h"

namespace tpack::reliability {
namespace {

constexpr int64_t kSteps = 20;
constexpr int kBatch = 8;

class Replicas : public Training {
 protected:
  Replicas() { config_ = source_folder() + "/tests/reliability/plain.yaml"; }

  CheckpointContent trained(const std::string& name, const Launch& launch) const {
    train_well(name, {}, launch);
    return load_checkpoint(checkpoint(kSteps, name));
  }
  /// `tolerance`: for the largest difference relative to the largest weight.
  void expect_close(const Launch& one_device, const Launch& launch, double tolerance) const {
    const CheckpointContent one = trained("one", one_device);
    const CheckpointContent two = trained("two", launch);
    double largest = 0;
    double difference = 0;
    for (const auto& [name, value] : one.tensors) {
      if (!name.starts_with("model/")) continue;
      largest = std::max(largest, max_difference(value, Tensor::zeros(value.spec())));
      difference = std::max(difference, max_difference(value, two.tensors.at(name)));
    }
    std::cout << launch.name << ": largest difference " << difference << ", largest weight " << largest
              << std::endl;
    EXPECT_GT(largest, 0.1);
    EXPECT_LE(difference, tolerance * largest);
  }
  void expect_repeats(const Launch& launch) const {
    const CheckpointContent first = trained("first", launch);
    for (const char* name : {"second", "third", "fourth", "fifth"}) {
      SCOPED_TRACE(name);
      expect_same_state(first, trained(name, launch));
      expect_same_statistics(run_folder("first"), run_folder(name));
    }
  }
};

/// One device with the batch of so many replicas.
Launch one_device(int replicas) {
  const std::string batch = std::to_string(kBatch * replicas);
  return {"One device", {}, {"--set", "data.train.flow.BatchData.batch_size=" + batch}};
}

/// The same on the reference backend, in double.
Launch in_double(Launch launch) {
  launch.name += " in double";
  for (const char* word : {"--set", "engine={backend: reference, dtype: float64, threads: 1}"})
    launch.changes.emplace_back(word);
  return launch;
}

/// A way to train several replicas.
struct Way {
  const char* name;
  int replicas;
  int ranks;  // 0: one process
  const char* trainer;
};

void PrintTo(const Way& way, std::ostream* out) { *out << way.name; }

class EachWay : public Replicas, public testing::WithParamInterface<Way> {
 protected:
  void SetUp() override {
    if (GetParam().ranks == 0) return;
    if (const auto why = no_ranks()) GTEST_SKIP() << *why;
  }
  static Launch launch() {
    const Way& way = GetParam();
    Launch launch{way.name, {}, {"--set", std::string("trainer=") + way.trainer}};
    if (way.ranks > 0) {
      launch.before = kRanks.before;
      launch.before.back() = std::to_string(way.ranks);
      for (const char* word : {"--bind-to", "none"}) launch.before.emplace_back(word);  // for several towers
    }
    return launch;
  }
  static Launch one() { return one_device(GetParam().replicas); }
};

INSTANTIATE_TEST_SUITE_P(
    Replicas, EachWay,
    testing::Values(Way{"towers", 2, 0, "{SyncMultiGPU: {devices: [cpu:0, cpu:1]}}"},
                    Way{"parameter_server", 2, 0,
                        "{SyncMultiGPU: {devices: [cpu:0, cpu:1], mode: parameter_server}}"},
                    Way{"two_ranks", 2, 2, "Horovod"}, Way{"four_ranks", 4, 4, "Horovod"},
                    Way{"two_ranks_of_two_towers", 4, 2, "{Horovod: {devices: [cpu:0, cpu:1]}}"}),
    [](const auto& one) { return one.param.name; });

TEST_P(EachWay, learns_what_one_device_learns) { expect_close(one(), launch(), 1e-5); }

TEST_P(EachWay, learns_what_one_device_learns_in_double) {
  expect_close(in_double(one()), in_double(launch()), 1e-12);
}

TEST_P(EachWay, repeats_to_the_bit_in_five_runs) { expect_repeats(launch()); }

TEST_P(EachWay, repeats_to_the_bit_in_five_runs_in_double) { expect_repeats(in_double(launch())); }

TEST_F(Replicas, two_ranks_learn_what_two_towers_learn_to_the_bit) {
  if (const auto why = no_ranks()) GTEST_SKIP() << *why;
  expect_same_state(trained("towers", kTowers), trained("ranks", kRanks));
}

TEST_F(Replicas, one_device_repeats_to_the_bit_in_five_runs) { expect_repeats(one_device(2)); }

}  // namespace
}  // namespace tpack::reliability
