#include "parallel/async_parallel.h"

#include <atomic>
#include <thread>

#include <gmock/gmock-matchers.h>

#include "parallel/data_parallel.h"
#include "support/small_model.h"
#include "testkit/gradient_check.h"

namespace tpack {
namespace {

constexpr int64_t kAsyncBatch = 6;

std::vector<Tensor> batch_of(int64_t number) {
  const auto seed = static_cast<uint64_t>(number);
  return {testkit::random_tensor({kAsyncBatch, 5}, 100 + seed, DType::kFloat32),
          testkit::random_labels(kAsyncBatch, 3, 200 + seed)};
}

ReplicaOptions options_of(size_t towers, bool average = true) {
  ReplicaOptions options;
  options.make_device = [](size_t k, int /*threads*/) {
    return make_reference_device("cpu:" + std::to_string(k), {});
  };
  options.towers = towers;
  options.average = average;
  options.seed = 3;
  return options;
}

/// A kind of replicas of the small model, ready for its first step.
template <class Kind>
struct Training {
  explicit Training(size_t towers, bool average = true,
                    const char* optimizer_yaml = "Momentum: {learning_rate: 0.1}")
      : Training(options_of(towers, average), optimizer_yaml) {}
  explicit Training(ReplicaOptions options, const char* optimizer_yaml = "Momentum: {learning_rate: 0.1}")
      : optimizer(optimizer_of(optimizer_yaml)), replicas(*model, updates(), plan, std::move(options)) {
    const Signature signature = {{DType::kFloat32, {kAsyncBatch, 5}}, {DType::kInt32, {kAsyncBatch}}};
    replicas.declare(signature);
    replicas.build(signature, {});
    replicas.initialize();
  }
  std::vector<Update> updates() const { return {{.optimizer = optimizer.get()}}; }
  Tensor weights() const { return replicas.variables().value("@parameters").clone(); }

  std::unique_ptr<TowerFunction> model = model_of(kSmallModel);
  std::unique_ptr<Optimizer> optimizer;
  Plan plan;
  Kind replicas;
};

/// Gives each tower batches with running numbers; tower 1 waits before its second one.
struct Feed {
  explicit Feed(size_t towers) : next(towers), held(towers) {}
  Replicas::Batches batches() {
    return [this](size_t k, int64_t /*number*/) -> std::span<const Tensor> {
      if (k == 1 && next[k] == 1) go_on.wait(false);
      held[k] = batch_of(next[k]++);
      return held[k];
    };
  }
  std::vector<int64_t> next;
  std::vector<std::vector<Tensor>> held;
  void let_go() {
    go_on = true;
    go_on.notify_all();
  }
  std::atomic<bool> go_on = false;
};

TEST(AsyncParallel, of_one_tower_has_the_bits_of_a_synchronous_one) {
  const auto train = [](auto& training) {
    Feed feed(1);
    const Replicas::Batches batches = feed.batches();
    for (int64_t step = 0; step < 10; ++step) EXPECT_TRUE(training.replicas.step(step, batches));
    return training.weights();
  };
  Training<AsyncParallel> asynchronous(1);
  Training<DataParallel> synchronous(1);
  EXPECT_TRUE(bit_equal(train(asynchronous), train(synchronous)));
}

TEST(AsyncParallel, a_tower_does_not_wait_for_another_one) {
  constexpr int64_t kSteps = 50;
  Feed feed(2);
  const Replicas::Batches batches = feed.batches();
  Training<AsyncParallel> training(2);
  const std::shared_ptr<void> at_end(nullptr, [&](void*) { feed.let_go(); });  // before the towers are joined
  for (int64_t step = 0; step < kSteps; ++step) ASSERT_TRUE(training.replicas.step(step, batches));
  EXPECT_EQ(training.replicas.steps_of(0), kSteps);
  EXPECT_LE(training.replicas.steps_of(1), 1) << "its second batch has not come";
  feed.let_go();
  for (int64_t step = kSteps; training.replicas.steps_of(1) < 5; ++step)
    ASSERT_TRUE(training.replicas.step(step, batches));
  EXPECT_EQ(training.replicas.samples() % kAsyncBatch, 0);
}

// Only the first tower has a batch.
TEST(AsyncParallel, divides_gradients_by_the_towers_if_it_averages) {
  const auto after_a_step = [](bool average, const char* optimizer) {
    const Replicas::Batches batches = [held = batch_of(0)](size_t k,
                                                           int64_t /*number*/) -> std::span<const Tensor> {
      return k == 0 ? std::span<const Tensor>(held) : std::span<const Tensor>();
    };
    Training<AsyncParallel> training(2, average, optimizer);
    EXPECT_TRUE(training.replicas.step(0, batches));
    return training.weights();
  };
  const Tensor mean = after_a_step(true, "SGD: {learning_rate: 0.5}");
  EXPECT_TRUE(bit_equal(mean, after_a_step(false, "SGD: {learning_rate: 0.25}")));
  EXPECT_FALSE(bit_equal(mean, after_a_step(false, "SGD: {learning_rate: 0.5}")));
}

TEST(AsyncParallel, changes_no_variable_between_steps) {
  Feed feed(2);
  feed.let_go();
  const Replicas::Batches batches = feed.batches();
  Training<AsyncParallel> training(2);
  Tensor before = training.weights();
  for (int64_t step = 0; step < 20; ++step) {
    ASSERT_TRUE(training.replicas.step(step, batches));
    const Tensor after = training.weights();
    EXPECT_FALSE(bit_equal(after, before));
    const timespec moment = {0, 2'000'000};
    ::nanosleep(&moment, nullptr);
    EXPECT_TRUE(bit_equal(training.weights(), after)) << "after step " << step;
    before = after;
  }
}

/// Of an update that is due in every second step.
TEST(AsyncParallel, counts_the_steps_of_other_towers_from_the_first_step_of_the_run_on) {
  const auto model = model_of(kSmallModel);
  const auto optimizer = optimizer_of("SGD: {learning_rate: 0.1}");
  for (const int64_t first : {0, 1}) {
    const Replicas::Batches batches = [held = batch_of(0), given = false](
                                          size_t k, int64_t /*number*/) mutable -> std::span<const Tensor> {
      if (k == 0 || given) return {};
      given = true;
      return held;
    };
    Plan plan;
    AsyncParallel replicas(*model, {{.optimizer = optimizer.get(), .schedule = {.round = 2}}}, plan,
                           options_of(2));
    const Signature signature = {{DType::kFloat32, {kAsyncBatch, 5}}, {DType::kInt32, {kAsyncBatch}}};
    replicas.declare(signature);
    replicas.build(signature, {});
    replicas.initialize();
    const Tensor before = replicas.variables().value("@parameters").clone();
    EXPECT_FALSE(replicas.step(first, batches)) << "tower 0 has no batch";
    while (replicas.steps_of(1) == 0) replicas.step(first, batches);  // in which tower 1 may go on
    EXPECT_EQ(bit_equal(replicas.variables().value("@parameters"), before), first == 1);
  }
}

TEST(AsyncParallel, an_error_of_any_tower_ends_a_step) {
  const Replicas::Batches batches = [held = batch_of(0)](size_t k,
                                                         int64_t /*number*/) -> std::span<const Tensor> {
    if (k == 1) throw DataError("images/7.jpg", "is truncated");
    return held;
  };
  Training<AsyncParallel> training(2);
  const auto train = [&] {
    for (int64_t step = 0;; ++step) training.replicas.step(step, batches);
  };
  EXPECT_THROW(train(), DataError);
}

TEST(AsyncParallel, ends_where_the_first_tower_has_no_batch) {
  const Replicas::Batches batches = [held = batch_of(0)](size_t k,
                                                         int64_t /*number*/) -> std::span<const Tensor> {
    return k == 0 ? std::span<const Tensor>() : std::span<const Tensor>(held);
  };
  Training<AsyncParallel> training(2);
  EXPECT_FALSE(training.replicas.step(0, batches));
}

TEST(AsyncParallel, rejects_statistics_of_all_towers_together) {
  const auto model = model_of(R"(
inputs:
  x: {shape: [5]}
  label: {shape: [], dtype: int32}
layers:
  - BatchNorm: {sync_statistics: true}
  - FullyConnected: {name: fc, units: 3}
cost:
  - SoftmaxCrossEntropy: {logits: fc, labels: label}
)");
  const auto optimizer = optimizer_of("SGD: {}");
  Plan plan;
  AsyncParallel replicas(*model, {{.optimizer = optimizer.get()}}, plan, options_of(2));
  try {
    replicas.declare({{DType::kFloat32, {kAsyncBatch, 5}}, {DType::kInt32, {kAsyncBatch}}});
    FAIL();
  } catch (const ConfigError& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr(":6:"));
    EXPECT_THAT(error.what(), testing::HasSubstr("use SyncMultiGPU"));
  }
}

TEST(AsyncParallel, rejects_what_it_does_not_do) {
  ReplicaOptions options = options_of(2);
  options.accumulate = 2;
  EXPECT_THROW(Training<AsyncParallel>(std::move(options)), ConfigError);
}

}  // namespace
}  // namespace tpack
