#include "parallel/replicas.h"

#include <thread>

#include <gmock/gmock-matchers.h>

#include "comm/local_group.h"
#include "parallel/small_replicas.h"
#include "support/mpi_world.h"
#include "support/watched_device.h"

namespace tpack {
namespace {

/// How each of two ranks compiles its programs.
std::vector<std::vector<std::string>> compiled_by_two_ranks() {
  LocalGroup group(2);
  std::vector<std::vector<std::string>> compiled(2);
  const auto model = model_for(Setting::Backend::kCpu);
  const auto optimizer = optimizer_of("SGD: {learning_rate: 0.5}");
  const auto build = [&](int rank) {
    const auto world = group.member(rank);
    ReplicaOptions options;
    options.make_device = [&](size_t /*tower*/, int /*threads*/) {
      return std::make_unique<WatchedDevice>(make_reference_device("cpu:0", {}), [&](const std::string& how) {
        compiled[static_cast<size_t>(rank)].push_back(how);
      });
    };
    options.world = world.get();
    Plan plan;
    DataParallel replicas(*model, {{.optimizer = optimizer.get()}}, plan, std::move(options));
    const Signature signature = {{DType::kFloat32, {kReplicaBatch, 5}}, {DType::kInt32, {kReplicaBatch}}};
    replicas.declare(signature);
    replicas.build(signature, {{{DType::kFloat32, {1, 5}}, {DType::kInt32, {1}}}});
    replicas.initialize();
  };
  std::thread other([&] { build(1); });
  build(0);
  other.join();
  return compiled;
}

TEST(DataParallel, ranks_measure_nothing_but_what_rank_0_sends_to_all) {
  const auto compiled = compiled_by_two_ranks();
  EXPECT_THAT(compiled[0], testing::ElementsAre("measured", "by rules", "measured"));
  EXPECT_THAT(compiled[1], testing::ElementsAre("as planned", "as planned", "as planned"));
}

/// What two processes train, which are threads here.
std::vector<Variables> train_as_two_ranks(Setting setting) {
  LocalGroup world(2);
  std::vector<Variables> of(2);
  std::vector<std::jthread> threads;
  for (int rank = 0; rank < 2; ++rank) {
    threads.emplace_back([&, rank, setting]() mutable {
      const auto comm = world.member(rank);
      setting.world = comm.get();
      of[static_cast<size_t>(rank)] = train(setting);
    });
  }
  threads.clear();
  return of;
}

TEST(DataParallel, buckets_that_are_summed_during_backward_give_the_same_bits) {
  for (const auto& [backend, model] : {std::pair{Setting::Backend::kReference, std::string(kSmallModel)},
                                       {Setting::Backend::kCpu, kSmallModel},
                                       {Setting::Backend::kReference, model_with_ignored_labels()}}) {
    for (const size_t towers : {1U, 2U}) {
      for (const int64_t accumulate : {1, 3}) {
        Setting setting{.backend = backend,
                        .towers = towers,
                        .accumulate = accumulate,
                        .bucket_bytes = 0,
                        .model = model};
        const std::vector<Variables> at_once = train_as_two_ranks(setting);
        setting.bucket_bytes = 1;  // each variable is a bucket
        const std::vector<Variables> in_parts = train_as_two_ranks(setting);
        for (const auto& [name, value] : at_once[0]) {
          EXPECT_TRUE(bit_equal(value, at_once[1].at(name))) << name;
          EXPECT_TRUE(bit_equal(value, in_parts[0].at(name))) << name;
          EXPECT_TRUE(bit_equal(value, in_parts[1].at(name))) << name;
        }
      }
    }
  }
}

TEST(DataParallel, common_statistics_go_between_buckets) {
  for (const size_t towers : {1U, 2U}) {
    Setting setting{.towers = towers, .bucket_bytes = 1, .model = kNormalizedModel};
    const Variables one = train({.model = kNormalizedModel});
    for (const Variables& rank : train_as_two_ranks(setting)) EXPECT_LT(distance(rank, one), 1e-12);
  }
}

class DataParallelRanks : public testing::Test {
 protected:
  void SetUp() override {
    if (!started_by_mpirun()) GTEST_SKIP() << "not started by mpirun (or built without MPI)";
    ASSERT_EQ(MpiWorld::comm().size(), 2);
  }
};

TEST_F(DataParallelRanks, equal_one_device_with_twice_the_batch) {
  EXPECT_LT(distance(train({.world = &MpiWorld::comm()}), train({})), 1e-12);
  const Setting alone{.backend = Setting::Backend::kCpu};
  const Setting ranks{.backend = Setting::Backend::kCpu, .world = &MpiWorld::comm()};
  EXPECT_LE(distance(train(ranks), train(alone)), 1e-5);
}

TEST_F(DataParallelRanks, weigh_by_the_labels_that_count) {
  const std::string model = model_with_ignored_labels();
  for (const int64_t accumulate : {1, 3})
    EXPECT_LT(distance(train({.world = &MpiWorld::comm(), .accumulate = accumulate, .model = model}),
                       train({.model = model})),
              1e-12)
        << accumulate;
}

TEST_F(DataParallelRanks, have_the_bits_of_two_towers) {
  const Variables towers = train({.backend = Setting::Backend::kCpu, .towers = 2});
  for (const auto& [name, value] : train({.backend = Setting::Backend::kCpu, .world = &MpiWorld::comm()}))
    EXPECT_TRUE(bit_equal(value, towers.at(name))) << name;
}

TEST_F(DataParallelRanks, with_two_towers_each_equal_one_device) {
  Setting setting{.towers = 2, .world = &MpiWorld::comm()};
  EXPECT_LT(distance(train(setting), train({})), 1e-12);
  setting.variables = kShared;
  EXPECT_LT(distance(train(setting), train({})), 1e-12);
  setting.accumulate = 3;
  EXPECT_LT(distance(train(setting), train({})), 1e-12);
  expect_same_bits_five_times(setting);
  setting.accumulate = 1;
  setting.bucket_bytes = 1;
  EXPECT_LT(distance(train(setting), train({})), 1e-12);
  expect_same_bits_five_times(setting);
}

TEST_F(DataParallelRanks, sum_buckets_during_backward) {
  Setting setting{.backend = Setting::Backend::kCpu, .world = &MpiWorld::comm()};
  const Variables at_once = train(setting);
  setting.bucket_bytes = 1;
  for (const auto& [name, value] : train(setting)) EXPECT_TRUE(bit_equal(value, at_once.at(name))) << name;
  for (const auto& [compression, most] : {std::pair{Compression::kFp16, 1e-3}, {Compression::kBf16, 1e-2}}) {
    setting.compression = compression;
    const double difference = distance(train(setting), at_once);
    EXPECT_GT(difference, 0);
    EXPECT_LT(difference, most);
    expect_same_bits_five_times(setting);
  }
}

TEST_F(DataParallelRanks, give_the_same_bits_in_every_run) {
  expect_same_bits_five_times({.backend = Setting::Backend::kCpu, .world = &MpiWorld::comm()});
}

}  // namespace
}  // namespace tpack
