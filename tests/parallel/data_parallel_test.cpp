#include "parallel/data_parallel.h"

#include <cmath>
#include <mutex>
#include <thread>

#include <gmock/gmock-matchers.h>

#include "backend/open_device.h"
#include "comm/local_group.h"
#include "parallel/small_replicas.h"
#include "support/apart_device.h"
#include "support/temporary_folder.h"
#include "support/watched_device.h"
#include "system/log.h"
#include "testkit/gradient_check.h"

namespace tpack {
namespace {

TEST(DataParallel, two_towers_equal_one_device_with_twice_the_batch_in_double) {
  for (const char* optimizer : {"SGD: {learning_rate: 0.3}", "Momentum: {learning_rate: 0.1}",
                                "Adam: {learning_rate: 0.01, gradient: [GlobalNormClip: 0.05]}"}) {
    const Variables one = train({.optimizer = optimizer});
    EXPECT_LT(distance(train({.towers = 2, .optimizer = optimizer}), one), 1e-12) << optimizer;
  }
}

/// The weights of one tower's samples are not those of the other's.
TEST(DataParallel, two_towers_equal_one_device_with_weights_of_samples_too) {
  std::string weighted = kSmallModel;
  weighted.replace(weighted.find("labels: label}"), 14, "labels: label, weight: 0.5, sample_weights: label}");
  const Variables one = train({.model = weighted});
  EXPECT_LT(distance(train({.towers = 2, .model = weighted}), one), 1e-12);
  EXPECT_GT(distance(train({}), one), 1e-3);
}

TEST(DataParallel, batches_weigh_by_the_labels_that_count) {
  const std::string model = model_with_ignored_labels();
  for (const char* optimizer : {"SGD: {learning_rate: 0.3}", "Adam: {learning_rate: 0.01}"}) {
    const Setting one = {.optimizer = optimizer, .model = model};
    const Variables wanted = train(one);
    for (const auto& [towers, accumulate] : {std::pair{2, 1}, {1, 2}, {1, 4}, {2, 2}, {2, 3}}) {
      Setting parts = one;
      parts.towers = static_cast<size_t>(towers);
      parts.accumulate = accumulate;
      EXPECT_LT(distance(train(parts), wanted), 1e-12) << optimizer << towers << accumulate;
    }
    Setting shared = one;
    shared.towers = 2;
    shared.variables = ReplicaOptions::Variables::kShared;
    EXPECT_LT(distance(train(shared), wanted), 1e-12) << optimizer;
  }
}

/// The last batch of a pass may be smaller.
TEST(DataParallel, batches_weigh_by_their_samples) {
  const auto model = model_for(Setting::Backend::kReference);
  const auto optimizer = optimizer_of("SGD: {learning_rate: 0.3}");
  const std::vector<Tensor> all = {testkit::random_tensor({12, 5}, 5, DType::kFloat64),
                                   testkit::random_labels(12, 3, 6)};
  const auto signature = [](int64_t batch) {
    return Signature{{DType::kFloat64, {batch, 5}}, {DType::kInt32, {batch}}};
  };
  const auto after_step = [&](const std::vector<int64_t>& sizes) {
    Plan plan;
    ReplicaOptions options;
    options.make_device = [](size_t k, int /*threads*/) {
      return make_reference_device("cpu:" + std::to_string(k),
                                   {DType::kFloat64, DeviceOptions::Algorithm::kDirect, 1});
    };
    options.towers = sizes.size();
    DataParallel replicas(*model, {{.optimizer = optimizer.get()}}, plan, std::move(options));
    replicas.declare(signature(sizes[0]));
    const bool has_smaller = sizes.back() < sizes[0];
    replicas.build(signature(sizes[0]),
                   has_smaller ? std::vector<Signature>{signature(sizes.back())} : std::vector<Signature>{});
    replicas.initialize();
    std::vector<std::vector<Tensor>> fed(sizes.size());
    EXPECT_TRUE(replicas.step(0, [&](size_t k, int64_t /*number*/) -> std::span<const Tensor> {
      const int64_t first = k == 0 ? 0 : sizes[0];
      for (const Tensor& tensor : all) fed[k].push_back(tensor.rows(first, first + sizes[k]));
      return fed[k];
    }));
    return Variables{{"W", replicas.variables().tensor("fc1/W").clone()}};
  };
  EXPECT_LT(distance(after_step({8, 4}), after_step({12})), 1e-14);
}

TEST(DataParallel, two_towers_equal_one_device_with_twice_the_batch_on_processors) {
  const Variables one = train({.backend = Setting::Backend::kCpu});
  EXPECT_LE(distance(train({.backend = Setting::Backend::kCpu, .towers = 2}), one), 1e-5);
}

TEST(DataParallel, towers_with_common_statistics_equal_one_device_with_twice_the_batch) {
  for (const auto& [backend, most] :
       {std::pair{Setting::Backend::kReference, 1e-12}, {Setting::Backend::kCpu, 1e-5}}) {
    const Variables one = train({.backend = backend, .model = kNormalizedModel});
    ASSERT_TRUE(one.contains("bn/variance/EMA"));
    const Setting towers{.backend = backend, .towers = 2, .model = kNormalizedModel};
    EXPECT_LT(distance(train(towers), one), most);
    EXPECT_EQ(distance(train(towers), train(towers)), 0);
  }
}

constexpr auto kShared = ReplicaOptions::Variables::kShared;

TEST(DataParallel, variables_in_one_place_give_the_bits_of_replicas) {
  for (const char* optimizer : {"SGD: {learning_rate: 0.3}", "Adam: {learning_rate: 0.01}"}) {
    for (const auto backend : {Setting::Backend::kReference, Setting::Backend::kCpu}) {
      const Variables replicated = train({.backend = backend, .towers = 2, .optimizer = optimizer});
      const Variables shared =
          train({.backend = backend, .towers = 2, .optimizer = optimizer, .variables = kShared});
      for (const auto& [name, value] : replicated) EXPECT_TRUE(bit_equal(value, shared.at(name))) << name;
    }
  }
}

TEST(DataParallel, towers_have_weights_of_their_own_and_one_optimizer) {
  const auto model = model_of(kSmallModel);
  const auto optimizer = optimizer_of("Momentum: {learning_rate: 0.1}");
  const Signature signature = {{DType::kFloat32, {kReplicaBatch, 5}}, {DType::kInt32, {kReplicaBatch}}};
  for (const auto variables : {ReplicaOptions::Variables::kReplicated, kShared}) {
    Plan plan;
    ReplicaOptions options;
    options.make_device = [](size_t k, int /*threads*/) {
      return open_device("cpu:" + std::to_string(k),
                         DeviceOptions{.algorithm = DeviceOptions::Algorithm::kDirect, .threads = 1});
    };
    options.towers = 2;
    options.variables = variables;
    DataParallel replicas(*model, {{.optimizer = optimizer.get()}}, plan, std::move(options));
    replicas.declare(signature);
    replicas.build(signature);
    replicas.initialize();
    const auto tensor = [&](size_t tower, const char* name) {
      return replicas.device(tower).variables().tensor(name);
    };
    const bool replicated = variables == ReplicaOptions::Variables::kReplicated;
    EXPECT_EQ(tensor(1, "@momentum").address(), tensor(0, "@momentum").address());
    EXPECT_EQ(tensor(1, "@parameters").address() != tensor(0, "@parameters").address(), replicated);
    std::vector<std::vector<Tensor>> fed(2);
    for (int64_t step = 0; step < 3; ++step) {
      const Tensor before = tensor(0, "@parameters").clone();
      const auto next = [&](size_t tower, int64_t /*number*/) -> std::span<const Tensor> {
        const std::vector<Tensor> all = samples(2 * step + static_cast<int64_t>(tower), DType::kFloat32);
        fed[tower] = {all[0].rows(0, kReplicaBatch), all[1].rows(0, kReplicaBatch)};
        return fed[tower];
      };
      ASSERT_TRUE(replicas.step(step, next));
      EXPECT_FALSE(bit_equal(tensor(0, "@parameters"), before));
      EXPECT_TRUE(bit_equal(tensor(1, "@parameters"), tensor(0, "@parameters")));
    }
  }
}

TEST(DataParallel, a_sum_is_the_mean_with_a_larger_rate) {
  const Variables mean = train({.towers = 2, .optimizer = "SGD: {learning_rate: 0.3}"});
  const Variables sum = train({.towers = 2, .optimizer = "SGD: {learning_rate: 0.15}", .average = false});
  EXPECT_LT(distance(sum, mean), 1e-12);
}

TEST(DataParallel, accumulated_batches_equal_one_large_batch) {
  const Variables one = train({.optimizer = "Momentum: {learning_rate: 0.1}"});
  for (const auto& [towers, accumulate] : {std::pair<size_t, int64_t>{1, 2}, {1, 4}, {2, 3}}) {
    const Variables many =
        train({.towers = towers, .optimizer = "Momentum: {learning_rate: 0.1}", .accumulate = accumulate});
    EXPECT_LT(distance(many, one), 1e-12) << towers << " towers, " << accumulate << " batches";
  }
}

TEST(DataParallel, processors_agree_with_the_reference) {
  EXPECT_LE(distance(train({.backend = Setting::Backend::kCpu}), train({})), 1e-5);
}

TEST(DataParallel, gives_the_same_bits_in_every_run) {
  expect_same_bits_five_times({.backend = Setting::Backend::kCpu});
  expect_same_bits_five_times({.backend = Setting::Backend::kCpu, .towers = 2});
}

class DataParallelParts : public testing::Test {
 protected:
  DataParallelParts() {
    ReplicaOptions options;
    options.make_device = [](size_t k, int /*threads*/) {
      return make_reference_device("cpu:" + std::to_string(k), {.float_type = DType::kFloat64});
    };
    options.towers = 2;
    options.fetches = {"fc1"};
    replicas_ = std::make_unique<DataParallel>(*model_, std::vector<Update>{{.optimizer = optimizer_.get()}},
                                               plan_, std::move(options));
    names_ = replicas_->declare(signature_);
    replicas_->build(signature_);
    replicas_->initialize();
  }
  DataParallel::Batches all_batches() {
    return [this](size_t /*tower*/, int64_t /*number*/) -> std::span<const Tensor> { return batch_; };
  }
  /// One that is not the other's.
  DataParallel::Batches own_batches() {
    return [this](size_t tower, int64_t /*number*/) -> std::span<const Tensor> {
      return tower == 0 ? batch_ : other_batch_;
    };
  }

  std::unique_ptr<TowerFunction> model_ = model_for(Setting::Backend::kReference);
  std::unique_ptr<Optimizer> optimizer_ = optimizer_of("SGD: {learning_rate: 0.5}");
  Plan plan_;
  Signature signature_ = {{DType::kFloat64, {2 * kReplicaBatch, 5}}, {DType::kInt32, {2 * kReplicaBatch}}};
  std::vector<Tensor> batch_ = samples(0, DType::kFloat64);
  std::vector<Tensor> other_batch_ = samples(1, DType::kFloat64);
  std::unique_ptr<DataParallel> replicas_;
  std::vector<std::string> names_;
};

TEST_F(DataParallelParts, sums_statistics_over_towers) {
  ASSERT_EQ(names_.back(), "accuracy");
  ASSERT_TRUE(replicas_->step(0, all_batches()));
  EXPECT_EQ(replicas_->statistic(names_.size() - 1).weight(), 2 * 2 * kReplicaBatch);
  EXPECT_EQ(replicas_->fetched("fc1").shape(), (Shape{2 * kReplicaBatch, 3}));
}

TEST_F(DataParallelParts, continues_from_stored_statistics) {
  const std::vector<double> stored = {3, 4};
  replicas_->set_statistic(0, stored);
  EXPECT_EQ(replicas_->statistic(0).value(), 0.75);
  ASSERT_TRUE(replicas_->step(0, all_batches()));
  EXPECT_NE(replicas_->statistic(0).parts(), stored);
}

TEST(DataParallel, sums_statistics_over_accumulated_batches) {
  const auto model = model_for(Setting::Backend::kReference);
  const auto optimizer = optimizer_of("SGD: {learning_rate: 0.5}");
  Plan plan;
  const Signature signature = {{DType::kFloat64, {2 * kReplicaBatch, 5}},
                               {DType::kInt32, {2 * kReplicaBatch}}};
  ReplicaOptions options;
  options.make_device = [](size_t /*tower*/, int /*threads*/) {
    return make_reference_device("cpu:0", {.float_type = DType::kFloat64});
  };
  options.accumulate = 3;
  DataParallel replicas(*model, {{.optimizer = optimizer.get()}}, plan, std::move(options));
  const std::vector<std::string> names = replicas.declare(signature);
  replicas.build(signature);
  replicas.initialize();
  for (int64_t step = 0; step < 2; ++step) {
    std::vector<Tensor> batch;
    int64_t taken = 0;
    ASSERT_TRUE(replicas.step(step, [&](size_t /*tower*/, int64_t /*number*/) -> std::span<const Tensor> {
      batch = samples(taken++, DType::kFloat64);
      return batch;
    }));
    EXPECT_EQ(taken, 3);
    EXPECT_EQ(replicas.statistic(names.size() - 1).weight(), 3 * 2 * kReplicaBatch) << "step " << step;
    EXPECT_EQ(replicas.samples(), (step + 1) * 3 * 2 * kReplicaBatch);
  }
}

/// The variables after three steps of two batches, whose second one has a NaN, and the skipped updates of
/// each step.
std::pair<Tensor, std::vector<size_t>> train_with_a_bad_step(
    const std::function<std::unique_ptr<Device>(const std::string&, const DeviceOptions&)>& open) {
  const auto model = model_of(kSmallModel);
  const auto optimizer = optimizer_of("Momentum: {learning_rate: 0.1}");
  Plan plan;
  ReplicaOptions options;
  options.make_device = [&](size_t /*tower*/, int /*threads*/) { return open("apart:0", {}); };
  options.accumulate = 2;
  DataParallel replicas(*model, {{.optimizer = optimizer.get()}}, plan, std::move(options));
  const Signature signature = signature_of(samples(0, DType::kFloat32));
  replicas.declare(signature);
  replicas.guard_updates();
  replicas.build(signature);
  replicas.initialize();
  std::vector<size_t> skipped;
  for (int64_t step = 0; step < 3; ++step) {
    const Tensor before = replicas.variables().value("@parameters").clone();
    std::vector<Tensor> batch;
    EXPECT_TRUE(replicas.step(step, [&](size_t /*tower*/, int64_t number) -> std::span<const Tensor> {
      batch = samples(2 * step + number, DType::kFloat32);
      if (step == 1 && number == 0) batch[0].data<float>()[0] = NAN;
      return batch;
    }));
    skipped.push_back(replicas.skipped_updates().size());
    EXPECT_EQ(bit_equal(replicas.variables().value("@parameters"), before), step == 1) << step;
  }
  return {replicas.variables().value("@parameters").clone(), skipped};
}

TEST(DataParallel, accumulates_and_checks_gradients_in_the_memory_of_the_device) {
  const auto [there, skipped] = train_with_a_bad_step(make_apart_device);
  EXPECT_THAT(skipped, testing::ElementsAre(0, 1, 0));
  EXPECT_TRUE(bit_equal(there, train_with_a_bad_step(make_reference_device).first));
}

TEST_F(DataParallelParts, towers_begin_and_stay_alike) {
  const auto weights = [this](size_t tower) {
    return replicas_->device(tower).variables().tensor("@parameters");
  };
  EXPECT_TRUE(bit_equal(weights(0), weights(1)));
  for (int64_t step = 0; step < 3; ++step) {
    const Tensor before = weights(0).clone();
    ASSERT_TRUE(replicas_->step(step, own_batches()));
    EXPECT_FALSE(bit_equal(weights(0), before));
    EXPECT_TRUE(bit_equal(weights(0), weights(1))) << "after step " << step;
  }
}

TEST_F(DataParallelParts, a_tower_without_batch_ends_the_step_for_all_and_changes_nothing) {
  const Tensor before = replicas_->variables().tensor("@parameters").clone();
  const auto batches = [this](size_t tower, int64_t /*number*/) -> std::span<const Tensor> {
    return tower == 1 ? std::span<const Tensor>() : std::span<const Tensor>(batch_);
  };
  EXPECT_FALSE(replicas_->step(0, batches));
  EXPECT_EQ(replicas_->ended_on(), 1);
  EXPECT_TRUE(bit_equal(replicas_->variables().tensor("@parameters"), before));
}

TEST_F(DataParallelParts, an_error_of_one_tower_ends_the_step_of_all) {
  const auto batches = [this](size_t tower, int64_t /*number*/) -> std::span<const Tensor> {
    if (tower == 1) throw DataError("images/7.jpg", "is truncated");
    return batch_;
  };
  EXPECT_THROW(replicas_->step(0, batches), DataError);
}

TEST_F(DataParallelParts, broadcast_gives_the_variables_of_the_first_to_all) {
  replicas_->device(0).variables().tensor("fc1/b").data<double>()[0] = 42;
  replicas_->broadcast();
  EXPECT_EQ(replicas_->device(1).variables().tensor("fc1/b").at(0), 42);
}

TEST_F(DataParallelParts, all_towers_use_the_plan_of_the_first) {
  EXPECT_THAT(plan_.sections, testing::Contains(testing::Key(testing::StartsWith("backward "))));
  EXPECT_EQ(&replicas_->plan(), &plan_);
}

TEST(DataParallel, warns_of_a_plan_that_another_cpu_made_or_for_another_batch) {
  const TemporaryFolder folder;
  log::to_file(folder / "log.txt");
  const auto model = model_for(Setting::Backend::kCpu);
  const auto optimizer = optimizer_of("SGD: {learning_rate: 0.5}");
  Plan plan;
  const auto build = [&](int64_t batch) {
    const Signature signature = {{DType::kFloat32, {batch, 5}}, {DType::kInt32, {batch}}};
    ReplicaOptions options;
    options.make_device = [](size_t /*tower*/, int /*threads*/) {
      return open_device("cpu:0", DeviceOptions{});
    };
    DataParallel replicas(*model, {{.optimizer = optimizer.get()}}, plan, std::move(options));
    replicas.declare(signature);
    replicas.build(signature);
    replicas.initialize();
  };
  build(kReplicaBatch);
  EXPECT_EQ(plan.hardware, open_device("cpu:0", DeviceOptions{})->hardware());
  build(kReplicaBatch);
  EXPECT_THAT(content_of(folder / "log.txt"), testing::Not(testing::HasSubstr("the plan")));
  plan.hardware = "Acme 1/2/3";
  build(kReplicaBatch);
  build(2);
  log::close_file();
  EXPECT_THAT(content_of(folder / "log.txt"),
              testing::HasSubstr("the plan was made on other hardware (Acme 1/2/3, this is " +
                                 open_device("cpu:0", DeviceOptions{})->hardware()));
  EXPECT_THAT(content_of(folder / "log.txt"),
              testing::HasSubstr(
                  "the plan has no section 'backward float32 [2, 5], int32 [2]', so it is planned again"));
}

TEST(DataParallel, the_first_tower_chooses_for_all_and_all_have_as_many_threads) {
  std::mutex mutex;
  std::vector<size_t> compiled;  // by tower
  std::vector<int> threads;
  ReplicaOptions options;
  options.make_device = [&](size_t k, int given) {
    threads.push_back(given);
    return std::make_unique<WatchedDevice>(make_reference_device("cpu:0", {}),
                                           [&mutex, &compiled, k](const std::string& /*how*/) {
                                             const std::lock_guard lock(mutex);
                                             compiled.push_back(k);
                                           });
  };
  options.towers = 2;
  const auto model = model_for(Setting::Backend::kCpu);
  const auto optimizer = optimizer_of("SGD: {learning_rate: 0.5}");
  Plan plan;
  DataParallel replicas(*model, {{.optimizer = optimizer.get()}}, plan, std::move(options));
  const Signature signature = {{DType::kFloat32, {kReplicaBatch, 5}}, {DType::kInt32, {kReplicaBatch}}};
  replicas.declare(signature);
  replicas.build(signature);
  replicas.initialize();
  EXPECT_THAT(compiled, testing::ElementsAre(0, 0, 1));
  EXPECT_EQ(threads[0], threads[1]);
}

}  // namespace
}  // namespace tpack
