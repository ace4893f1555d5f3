// Two replicas with batches of 8 learn what one device with batches of 16 learns.
#include <algorithm>

#include "comparison.h"
#include "training.h"

namespace tpack::reliability {
namespace {

constexpr int64_t kSteps = 20;

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

  const Launch batch_of_16_{"One device", {}, {"--set", "data.train.flow.BatchData.batch_size=16"}};
};

/// The same on the reference backend, in double.
Launch in_double(Launch launch) {
  launch.name += " in double";
  for (const char* word : {"--set", "engine={backend: reference, dtype: float64, threads: 1}"})
    launch.changes.emplace_back(word);
  return launch;
}

TEST_F(Replicas, two_towers_learn_what_one_device_learns) { expect_close(batch_of_16_, kTowers, 1e-5); }

TEST_F(Replicas, two_towers_learn_what_one_device_learns_in_double) {
  expect_close(in_double(batch_of_16_), in_double(kTowers), 1e-12);
}

TEST_F(Replicas, two_ranks_learn_what_one_device_learns) {
  if (const auto why = no_ranks()) GTEST_SKIP() << *why;
  expect_close(batch_of_16_, kRanks, 1e-5);
}

TEST_F(Replicas, two_ranks_learn_what_one_device_learns_in_double) {
  if (const auto why = no_ranks()) GTEST_SKIP() << *why;
  expect_close(in_double(batch_of_16_), in_double(kRanks), 1e-12);
}

TEST_F(Replicas, two_ranks_learn_what_two_towers_learn_to_the_bit) {
  if (const auto why = no_ranks()) GTEST_SKIP() << *why;
  expect_same_state(trained("towers", kTowers), trained("ranks", kRanks));
}

TEST_F(Replicas, one_device_repeats_to_the_bit_in_five_runs) { expect_repeats(batch_of_16_); }
TEST_F(Replicas, two_towers_repeat_to_the_bit_in_five_runs) { expect_repeats(kTowers); }
TEST_F(Replicas, two_towers_repeat_to_the_bit_in_five_runs_in_double) { expect_repeats(in_double(kTowers)); }
TEST_F(Replicas, two_ranks_repeat_to_the_bit_in_five_runs) {
  if (const auto why = no_ranks()) GTEST_SKIP() << *why;
  expect_repeats(kRanks);
}
TEST_F(Replicas, two_ranks_repeat_to_the_bit_in_five_runs_in_double) {
  if (const auto why = no_ranks()) GTEST_SKIP() << *why;
  expect_repeats(in_double(kRanks));
}

}  // namespace
}  // namespace tpack::reliability
