#include "learner/learner.h"

#include <gmock/gmock-matchers.h>

#include "learner/inference_model.h"
#include "learner/model_config.h"
#include "optim/optimizers.h"
#include "support/program_runner.h"
#include "support/small_training.h"

namespace tpack {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

constexpr int64_t kBatch = 4;

LearnerOptions small_options() {
  LearnerOptions options;
  options.seed = 5;
  options.batch_size = kBatch;
  options.engine = {.backend = EngineSettings::Backend::kReference,
                    .algorithm = DeviceOptions::Algorithm::kDirect,
                    .threads = 1};
  return options;
}

Learner small_learner() { return Learner(model_of(kSmallModel), adam(0.01), small_options()); }

DataFlow small_data() { return small_flow(40, "- BatchData: {batch_size: 4}"); }

/// The batches that a run of seed 5 takes first.
std::vector<Learner::Tensors> batches(int64_t count) {
  const DataFlow flow = small_data();
  const auto stream = flow.stream({.seed = 5, .passes = 10});
  std::vector<Learner::Tensors> all;
  for (int64_t i = 0; i < count; ++i) {
    const auto batch = stream->next();
    all.push_back({{"x", batch->tensor(0).clone()}, {"label", batch->tensor(1).clone()}});
  }
  return all;
}

TEST(Learner, takes_the_steps_of_the_trainer_of_a_config) {
  std::string with_dropout = kSmallModel;  // whose draws depend on the seed
  with_dropout.insert(with_dropout.find("  - FullyConnected: {name: fc1"), "  - Dropout: 0.5\n");
  for (const std::string& model : {std::string(kSmallModel), with_dropout}) {
    SmallTraining training(small_data(), "Simple", "Adam: {learning_rate: 0.01}",
                           EngineSettings::Backend::kReference, make_self_comm(), model_of(model));
    Trainer& trainer = training.trainer();
    trainer.initialize();
    Learner learner(model_of(model), adam(0.01), small_options());
    for (const Learner::Tensors& batch : batches(5)) {
      ASSERT_TRUE(trainer.step(learner.global_step(), {}));
      const Learner::Figures figures = learner.step(batch);
      const auto& statistics = trainer.part<StepStatistics>();
      EXPECT_EQ(figures.at("cost"), *statistics.statistic(0));
      EXPECT_EQ(figures.size(), statistics.statistics().size());
    }
    const VariableStore& expected = *trainer.part<TrainedVariables>().variables();
    for (const std::string& name : expected.names(VariableScope::kModel))
      EXPECT_TRUE(bit_equal(learner.variables().value(name), expected.value(name))) << name;
  }
}

/// A statistic that no sample of a batch has (AUC of one class) is left out.
TEST(Learner, gives_only_the_statistics_that_have_a_value) {
  const char* const model = R"(
inputs: {x: {shape: [5]}, label: {shape: [], dtype: int32}}
layers: [FullyConnected: {name: fc, units: 2}]
cost: [SoftmaxCrossEntropy: {logits: fc, labels: label}]
metrics: [AUC: {logits: fc, labels: label}]
)";
  Learner learner(model_of(model), sgd(0.1), small_options());
  const Tensor x(DType::kFloat32, {2, 5});
  const auto both = learner.step({{"x", x}, {"label", Tensor::of<int32_t>({2}, {0, 1})}});
  EXPECT_EQ(both.size(), 2U);
  const auto one = learner.step({{"x", x}, {"label", Tensor::of<int32_t>({2}, {1, 1})}});
  EXPECT_EQ(one.size(), 1U);
  EXPECT_TRUE(one.contains("cost"));
}

TEST(Learner, goes_on_from_a_file_as_if_it_had_not_stopped) {
  const TemporaryFolder folder;
  const std::vector<Learner::Tensors> all = batches(6);
  Learner whole = small_learner();
  Learner second = small_learner();
  for (int64_t i = 0; i < 6; ++i) {
    whole.step(all[static_cast<size_t>(i)]);
    if (i == 2) whole.save(folder / "3.h5");
  }
  second.load(folder / "3.h5");
  EXPECT_EQ(second.global_step(), 3);
  for (int64_t i = 3; i < 6; ++i) second.step(all[static_cast<size_t>(i)]);
  for (const VariableScope scope : {VariableScope::kModel, VariableScope::kOptimizer}) {
    for (const std::string& name : whole.variables().names(scope))
      EXPECT_TRUE(bit_equal(second.variables().value(name), whole.variables().value(name))) << name;
  }
}

TEST(Learner, predicts_and_evaluates_with_its_weights) {
  Learner learner = small_learner();
  const DataFlow flow = small_data();
  const Learner::Figures before = learner.evaluate(flow);
  for (const Learner::Tensors& batch : batches(60)) learner.step(batch);
  const Learner::Figures after = learner.evaluate(flow);
  EXPECT_LT(after.at("cost"), before.at("cost"));
  const Learner::Tensors batch = batches(1)[0];
  const Tensor scores = learner.predict({{"x", batch.at("x")}}, {"fc1"}).at("fc1");
  EXPECT_EQ(scores.shape(), Shape({kBatch, 3}));
  Learner other(model_of(kSmallModel), nullptr, small_options());
  const TemporaryFolder folder;
  learner.save(folder / "a.h5");
  other.load(folder / "a.h5");
  EXPECT_TRUE(bit_equal(other.predict({{"x", batch.at("x")}}, {"fc1"}).at("fc1"), scores));
  Learner sgd_learner(model_of(kSmallModel), sgd(0.1), small_options());
  EXPECT_THROW(sgd_learner.load(folder / "a.h5"), CheckpointError) << "it has slots of Adam";
}

TEST(Learner, says_what_is_missing) {
  Learner learner = small_learner();
  const Tensor x(DType::kFloat32, {2, 5});
  EXPECT_THAT([&] { learner.step({{"x", x}}); }, ThrowsMessage<ConfigError>(HasSubstr("'label'")));
  const Tensor label(DType::kInt32, {2});
  EXPECT_THAT(
      [&] {
        learner.step({{"x", Tensor(DType::kFloat32, {2, 4})}, {"label", label}});
      },
      ThrowsMessage<ShapeError>(HasSubstr("input 'x' takes float32 [?, 5], not float32 [2, 4]")));
  EXPECT_THAT(
      [&] {
        learner.step({{"x", Tensor(DType::kFloat32, {3, 5})}, {"label", label}});
      },
      ThrowsMessage<ShapeError>(HasSubstr("samples")));
  EXPECT_THAT([] { adam(-1); }, ThrowsMessage<ConfigError>(HasSubstr("'learning_rate'")));
  EXPECT_THAT([&] { learner.predict({{"x", x}}, {"fc2"}); }, ThrowsMessage<ConfigError>(HasSubstr("'fc2'")));
  EXPECT_THAT([&] { learner.predict({{"x", x}}); }, ThrowsMessage<ConfigError>(HasSubstr("outputs")));
  Learner untrained(model_of(kSmallModel), nullptr, small_options());
  EXPECT_THAT(
      [&] {
        untrained.step({{"x", x}, {"label", label}});
      },
      ThrowsMessage<ConfigError>(HasSubstr("optimizer")));
}

/// Trains a.yaml of the folder into its folder `run`.
void train_in(const TemporaryFolder& folder) {
  const auto outcome = testing_cli::tpack({"train", folder / "a.yaml", "--log-dir", folder / "run"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
}

void expect_equal_weights(Learner& learner, Learner& expected) {
  for (const std::string& name : expected.variables().names(VariableScope::kModel))
    EXPECT_TRUE(bit_equal(learner.variables().value(name), expected.variables().value(name))) << name;
}

TEST(LearnerOfConfig, goes_on_where_train_stopped_and_is_read_by_infer) {
  const TemporaryFolder folder;
  std::string rows = "a,b,y\n";
  for (int i = 0; i < 40; ++i) rows += i % 2 == 0 ? "2,1,yes\n" : "-2,1,no\n";
  write_content(folder / "train.csv", rows);
  write_content(
      folder / "a.yaml",
      "tpack: 1\nmax_epoch: 2\nengine: {threads: 1, algorithm: heuristic}\n"
      "optimizer: {Momentum: {learning_rate: {Cosine: {start: 0.1}}}}\ncallbacks: [ModelSaver: {}]\n"
      "data:\n  train: [{CSV: {file: train.csv, columns: {x: [a, b]}, labels: {label: y}}}, "
      "BatchData: 8]\n"
      "model:\n  inputs: {x: {shape: [2]}, label: {shape: [], dtype: int32}}\n"
      "  layers: [{ScaleLike: x}, FullyConnected: {name: fc, units: 2}]\n"
      "  cost: [SoftmaxCrossEntropy: {logits: fc, labels: label}]\n"
      "predict: {data: train, outputs: {p: {Softmax: fc}}}\n");
  ASSERT_NO_FATAL_FAILURE(train_in(folder));

  Learner learner = Learner::from_config(folder / "a.yaml");
  const auto stream = learner.flow("train").stream({.seed = 1, .passes = 2});
  while (const auto batch = stream->next())
    learner.step({{"x", batch->tensor(0).clone()}, {"label", batch->tensor(1).clone()}});
  Learner trained = Learner::from_checkpoint(folder / "run/checkpoints/model-10.h5");
  EXPECT_EQ(trained.global_step(), learner.global_step());
  expect_equal_weights(learner, trained);

  learner.save(folder / "mine.h5");
  const Tensor x = Tensor::of<float>({2, 2}, {2, 1, -2, 1});
  const Tensor p = learner.predict({{"x", x}}).at("p");
  EXPECT_TRUE(bit_equal(InferenceModel::load(folder / "mine.h5")->predict({{"x", x}}).at("p"), p));
  EXPECT_EQ(InferenceModel::load(folder / "mine.h5")->labels(), (std::vector<std::string>{"no", "yes"}));
}

/// Updates in turns, and a learning rate in proportion to the batches of data.train.
TEST(LearnerOfConfig, takes_the_steps_of_train_with_several_updates) {
  const TemporaryFolder folder;
  write_content(folder / "a.yaml",
                "tpack: 1\nseed: 3\nmax_epoch: 1\nengine: {threads: 1, algorithm: heuristic}\n"
                "callbacks: [ModelSaver: {}]\n"
                "data:\n  train: [{FakeData: {shapes: [[3], []], names: [x, y], size: 35}}, BatchData: 5]\n"
                "model:\n  inputs: {x: {shape: [3]}, y: {shape: []}}\n"
                "  layers: [FullyConnected: {name: a, units: 4}, Dropout: 0.5, FullyConnected: {name: b, "
                "units: 1}]\n"
                "  costs: {a: [MeanSquaredError: {predictions: b, targets: y}], "
                "b: [MeanAbsoluteError: {predictions: b, targets: y}]}\n"
                "updates:\n"
                "  one: {cost: a, variables: a/.*, optimizer: {SGD: {learning_rate: {base: 0.1, per: 10}}}, "
                "steps: 2}\n"
                "  two: {cost: b, variables: b/.*, optimizer: {SGD: {learning_rate: 0.2}}, steps: 1}\n");
  ASSERT_NO_FATAL_FAILURE(train_in(folder));
  Learner learner = Learner::from_config(folder / "a.yaml");
  const auto stream = learner.flow("train").stream({.seed = 3, .passes = 1});
  std::vector<size_t> figures;
  while (const auto batch = stream->next())
    figures.push_back(
        learner.step({{"x", batch->tensor(0).clone()}, {"y", batch->tensor(1).clone()}}).size());
  EXPECT_EQ(figures, std::vector<size_t>(7, 1)) << "the cost of the update whose turn it is";
  Learner trained = Learner::from_checkpoint(folder / "run/checkpoints/model-7.h5");
  expect_equal_weights(learner, trained);
}

}  // namespace
}  // namespace tpack
