// What KMeans and PCA have in common.
#include "train/batch_trainer.h"

#include <gmock/gmock-matchers.h>

#include "backend/inference_tower.h"
#include "checkpoint/layout.h"
#include "predict/load_weights.h"
#include "predict/predictor.h"
#include "support/apart_device.h"
#include "support/batch_training.h"
#include "support/errors.h"
#include "support/on_ranks.h"
#include "support/small_model.h"

namespace tpack {
namespace {

using testing::AllOf;
using testing::HasSubstr;

constexpr const char* kBytes =
    "- FakeData: {shapes: [[3, 2]], dtype: [uint8], names: [x], domain: [0, 256], size: 24}\n";

DataFlow batches(int64_t size, const std::string& source = kBytes) {
  return flow_of(source + "- BatchData: {batch_size: " + std::to_string(size) + "}");
}

std::vector<std::string> trainers() {
  return {"KMeans: {clusters: 3, component: x}", "PCA: {components: 2, component: x}"};
}

void expect_same(const CheckpointContent& a, const CheckpointContent& b) {
  ASSERT_EQ(a.tensors.size(), b.tensors.size());
  for (const auto& [name, tensor] : a.tensors) EXPECT_TRUE(bit_equal(tensor, b.tensors.at(name))) << name;
  EXPECT_EQ(a.texts.at(layout::kData), b.texts.at(layout::kData));
}

/// What rank 0 would save after these steps of as many ranks; each goes on from `from` if it is not null.
CheckpointContent run_ranks(const std::string& trainer, int ranks, int64_t batch, int64_t begin, int64_t end,
                            const CheckpointContent* from = nullptr) {
  const auto all = on_ranks(ranks, [&](int /*rank*/, std::unique_ptr<Comm> comm) {
    BatchTraining training(trainer, batches(batch), std::move(comm));
    training.trainer().initialize();
    if (from != nullptr) training.trainer().load(*from, "model-3.h5");
    training.run(begin, end);
    return training.saved();
  });
  for (const CheckpointContent& other : all)
    for (const auto& [name, tensor] : other.tensors)
      EXPECT_TRUE(bit_equal(tensor, all[0].tensors.at(name))) << name << " differs between ranks";
  return all[0];
}

TEST(BatchTrainer, goes_on_bit_equal_after_a_stop_on_one_rank_and_on_two) {
  for (const std::string& trainer : trainers()) {
    for (const int ranks : {1, 2}) {
      const CheckpointContent whole = run_ranks(trainer, ranks, 4, 0, 7);
      const CheckpointContent first = run_ranks(trainer, ranks, 4, 0, 3);
      EXPECT_FALSE(bit_equal(first.tensors.begin()->second, whole.tensors.begin()->second)) << trainer;
      expect_same(run_ranks(trainer, ranks, 4, 3, 7, &first), whole);
    }
  }
}

TEST(BatchTrainer, has_the_same_result_on_two_ranks_with_half_the_batch) {
  for (const std::string& trainer : trainers()) {
    const CheckpointContent one = run_ranks(trainer, 1, 8, 0, 6);
    const CheckpointContent two = run_ranks(trainer, 2, 4, 0, 6);
    for (const auto& [name, tensor] : one.tensors) {
      if (trainer.starts_with("KMeans"))  // sums of bytes are exact
        EXPECT_TRUE(bit_equal(tensor, two.tensors.at(name))) << name;
      else
        for (int64_t i = 0; i < tensor.elements(); ++i)
          EXPECT_NEAR(tensor.at(i), two.tensors.at(name).at(i), 1e-5 * (1 + std::abs(tensor.at(i)))) << name;
    }
  }
}

TEST(BatchTrainer, gives_its_tower_back_from_a_checkpoint) {
  for (const std::string& yaml : trainers()) {
    BatchTraining training(yaml, batches(4));
    Trainer& trainer = training.trainer();
    trainer.initialize();
    training.run(0, 6);
    const CheckpointContent content = training.saved();
    const auto other = Registry<Trainer>::make_item(parse_yaml(yaml, "test.yaml"));
    const auto tower = other->part<TrainedModel>().stored_tower(content, "a.h5");
    ASSERT_EQ(tower->inputs().size(), 1U);
    const TowerInput& input = tower->inputs()[0];
    EXPECT_EQ(input.name, "x");
    EXPECT_EQ(input.spec, (TensorSpec{DType::kUInt8, {3, 2}}));
    InferenceTower place(*tower, make_reference_device("cpu:0", {}));
    load_all_weights(place.variables(), content, "a.h5");
    const std::string output = yaml.starts_with("PCA") ? "reconstruction" : "center";
    Tensor samples(DType::kUInt8, {5, 3, 2});
    for (int64_t i = 0; i < samples.elements(); ++i)
      samples.data<uint8_t>()[i] = static_cast<uint8_t>(37 * i % 256);
    Predictor stored(place.handle(), {{output, {output, {}}}}, {"x"});
    Predictor trained(*trainer.part<TrainedModel>().model_handle(), {{output, {output, {}}}}, {"x"});
    const Tensor values = stored.run({samples})[0];
    EXPECT_EQ(values.shape(), (Shape{5, 6}));
    EXPECT_TRUE(bit_equal(values, trained.run({samples})[0]));
    EXPECT_TRUE(
        says(error_from<CheckpointError>([&] { other->part<TrainedModel>().stored_tower({}, "a.h5"); }),
             {"does not describe the input of its model"}));
  }
}

TEST(BatchTrainer, shows_the_batch_of_the_last_step) {
  for (const std::string& yaml : trainers()) {
    BatchTraining training(yaml, batches(4));
    training.trainer().initialize();
    EXPECT_FALSE(training.trainer().part<StepData>().last_batch(0)) << "there was none";
    training.run(0, 3);
    const auto batch = training.trainer().part<StepData>().last_batch(0);
    ASSERT_TRUE(batch);
    EXPECT_EQ(batch->info.step, 2);
    ASSERT_EQ(batch->inputs.size(), 1U);
    EXPECT_EQ(batch->inputs[0].shape(), (Shape{4, 3, 2}));
  }
}

TEST(BatchTrainer, rejects_what_it_cannot_use) {
  const auto message = [](const std::string& source, const std::string& component) {
    return error_from(
        [&] { BatchTraining("KMeans: {clusters: 2, component: " + component + "}", flow_of(source)); });
  };
  EXPECT_THAT(message(std::string(kBytes) + "- BatchData: {batch_size: 4}", "y"),
              AllOf(HasSubstr("test.yaml:1:"), HasSubstr("unknown component 'y'")));
  EXPECT_THAT(message(kBytes, "x"), HasSubstr("data.train produces single samples"));
}

TEST(BatchTrainer, rejects_a_model_and_double_precision) {
  const std::unique_ptr<TowerFunction> model = model_of(kSmallModel);
  const std::map<std::string, DataFlow> flows = {{"train", batches(4)}};
  const auto world = make_self_comm();
  Plan plan;
  TrainSetup setup{.tower = model.get(), .flows = &flows, .plan = &plan, .world = world.get()};
  const auto trainer = Registry<Trainer>::make_item(parse_yaml(trainers()[0], "test.yaml"));
  EXPECT_TRUE(says(error_from([&] { trainer->setup(setup); }), {"remove 'model'"}));
  setup.tower = nullptr;
  setup.engine = {.backend = EngineSettings::Backend::kReference, .dtype = DType::kFloat64};
  EXPECT_TRUE(says(error_from([&] { trainer->setup(setup); }), {"computes in float32"}));
}

TEST(BatchTrainer, resumes_only_with_the_same_batches_and_arrays) {
  BatchTraining training(trainers()[0], batches(4));
  training.trainer().initialize();
  const CheckpointContent content = training.saved();
  BatchTraining larger(trainers()[0], batches(6));
  EXPECT_TRUE(says(error_from<CheckpointError>([&] { larger.trainer().check_resumable(content, "a.h5"); }),
                   {"batch_size 4, this run has 6"}));
  CheckpointContent without = content;
  without.tensors.erase("optimizer/counts");
  EXPECT_TRUE(says(error_from<CheckpointError>([&] { training.trainer().load(without, "a.h5"); }),
                   {"has no optimizer/counts"}));
}

TEST(BatchTrainer, says_what_a_step_is) {
  BatchTraining training(trainers()[1], batches(5));  // 24 samples: a remainder is dropped
  Trainer& trainer = training.trainer();
  EXPECT_EQ(trainer.part<StepData>().steps_per_pass(), 4);
  EXPECT_EQ(trainer.part<StepData>().step_size().batch, 5);
  EXPECT_TRUE(trainer.part<StepPrograms>().programs().empty());
  EXPECT_EQ(trainer.part<TrainedVariables>().variables(), nullptr);
  trainer.initialize();
  ASSERT_EQ(trainer.part<StepPrograms>().programs().size(), 1U);
  EXPECT_GE(trainer.part<StepPrograms>().programs()[0].executable->report().flops,
            2 * 5 * 6 * 6);  // of the scatter matrix
  EXPECT_GT(trainer.part<StepPrograms>().memory().variables, 6 * 6 * sizeof(double));
  training.run(0, 3);
  EXPECT_EQ(trainer.part<StepData>().samples(), 15);
}

TEST(BatchTrainer, ends_on_all_ranks_where_the_data_of_one_end_and_says_which) {
  const auto ends = on_ranks(2, [](int /*rank*/, std::unique_ptr<Comm> comm) {
    BatchTraining training(trainers()[0], batches(4), std::move(comm), EngineSettings::Backend::kReference,
                           "Unequal");  // horovod_test.cpp
    training.trainer().initialize();
    int64_t step = 0;
    while (training.trainer().step(step, {})) ++step;
    return training.trainer().part<StepData>().end_of_data() + " after " + std::to_string(step);
  });
  EXPECT_THAT(ends, testing::Each("the data of rank 1 ended after 2"));
}

TEST(BatchTrainer, keeps_variables_on_a_device_with_a_memory_of_its_own) {
  const DeviceKind apart("apart", make_apart_device);
  for (const std::string& yaml : trainers()) {
    const std::string item = yaml.substr(0, yaml.size() - 1);
    BatchTraining here(yaml, batches(4), make_self_comm(), EngineSettings::Backend::kKernels);
    BatchTraining there(item + ", device: 'apart:0'}", batches(4), make_self_comm(),
                        EngineSettings::Backend::kKernels);
    for (BatchTraining* training : {&here, &there}) {
      training->trainer().initialize();
      training->run(0, 6);
    }
    expect_same(here.saved(), there.saved());
  }
}

}  // namespace
}  // namespace tpack
