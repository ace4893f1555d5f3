#include "learner/inference_model.h"

#include <filesystem>
#include <thread>

#include <gmock/gmock-matchers.h>

#include "support/program_runner.h"

namespace tpack {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

/// A linear model of two classes, trained on a table that is gone, with callbacks that could not run any
/// more.
class InferenceModelTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = std::make_unique<TemporaryFolder>();
    std::string rows = "a,b,y\n";
    for (int i = 0; i < 40; ++i) rows += i % 2 == 0 ? "2,1,yes\n" : "-2,1,no\n";
    write_content(*folder_ / "train.csv", rows);
    write_content(
        *folder_ / "a.yaml",
        "tpack: 1\nmax_epoch: 2\nsteps_per_epoch: 20\nengine: {threads: 1, algorithm: heuristic}\n"
        "optimizer: {Adam: {learning_rate: 0.1}}\n"
        "callbacks: [ModelSaver: {}, InferenceRunner: {data: train}]\n"
        "data:\n  train: [{CSV: {file: train.csv, columns: {x: [a, b]}, labels: {label: y}}}, BatchData: 8]\n"
        "model:\n  inputs: {x: {shape: [2]}, label: {shape: [], dtype: int32}}\n"
        "  layers: [FullyConnected: {name: fc, input: x, units: 2}]\n"
        "  cost: [SoftmaxCrossEntropy: {logits: fc, labels: label}]\n"
        "predict: {data: train, outputs: {p: {Softmax: fc}, fc: fc}}\n");
    const auto outcome = testing_cli::tpack({"train", *folder_ / "a.yaml", "--log-dir", *folder_ / "run"});
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    std::filesystem::remove(*folder_ / "train.csv");
  }
  static void TearDownTestSuite() { folder_.reset(); }
  static std::string file() { return *folder_ / "run/checkpoints/model-40.h5"; }
  /// Rows of which every other one is of class yes, which the file has first.
  static Tensor rows(int64_t count) {
    Tensor x(DType::kFloat32, {count, 2});
    for (int64_t i = 0; i < count; ++i) {
      x.data<float>()[2 * i] = i % 2 == 0 ? 2.0F : -2.0F;
      x.data<float>()[2 * i + 1] = static_cast<float>(i) / 8;
    }
    return x;
  }

  static inline std::unique_ptr<TemporaryFolder> folder_;
};

TEST_F(InferenceModelTest, predicts_without_the_training_data) {
  const auto model = InferenceModel::load(file());
  const auto values = model->predict({{"x", rows(6)}});
  ASSERT_EQ(values.size(), 2U);
  const Tensor& p = values.at("p");
  ASSERT_EQ(p.shape(), (Shape{6, 2}));
  ASSERT_EQ(model->labels().size(), 2U);
  const int64_t yes = model->labels()[0] == "yes" ? 0 : 1;
  for (int64_t i = 0; i < 6; ++i) {
    EXPECT_GT(p.at(2 * i + (i % 2 == 0 ? yes : 1 - yes)), 0.5) << i;
    EXPECT_NEAR(p.at(2 * i) + p.at(2 * i + 1), 1, 1e-6);
  }
}

TEST_F(InferenceModelTest, predicts_the_same_if_inputs_that_it_does_not_need_are_given) {
  const auto model = InferenceModel::load(file());
  const Tensor expected = model->predict({{"x", rows(6)}}).at("fc");
  const Tensor labels = Tensor::of<int32_t>({6}, {1, 1, 1, 1, 1, 1});
  EXPECT_TRUE(bit_equal(model->predict({{"x", rows(6)}, {"label", labels}}).at("fc"), expected));
}

TEST_F(InferenceModelTest, gives_each_of_several_threads_its_own_values) {
  const auto model = InferenceModel::load(file());
  std::vector<Tensor> alone;
  for (int64_t t = 0; t < 4; ++t) alone.push_back(model->predict({{"x", rows(5 + t)}}).at("fc"));
  std::vector<int> equal(4, 0);
  std::vector<std::thread> threads;
  constexpr int kCalls = 50;
  for (size_t t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < kCalls; ++i)
        equal[t] += bit_equal(model->predict({{"x", rows(5 + static_cast<int64_t>(t))}}).at("fc"), alone[t]);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_THAT(equal, testing::Each(kCalls));
}

TEST_F(InferenceModelTest, rejects_inputs_that_the_model_does_not_have) {
  const auto model = InferenceModel::load(file());
  EXPECT_THAT(
      [&] {
        model->predict({{"y", rows(1)}});
      },
      ThrowsMessage<ConfigError>(HasSubstr("unknown input 'y'")));
  EXPECT_THAT([&] { model->predict({}); }, ThrowsMessage<ConfigError>(HasSubstr("depend on input 'x'")));
  EXPECT_THAT(
      [&] {
        model->predict({{"x", Tensor::zeros({DType::kFloat32, {2, 3}})}});
      },
      ThrowsMessage<ShapeError>(HasSubstr("input 'x' takes float32 [?, 2], not float32 [2, 3]")));
  EXPECT_THAT(
      [&] {
        model->predict({{"x", Tensor::zeros({DType::kFloat32, {2, 1, 2}})}});
      },
      ThrowsMessage<ShapeError>(HasSubstr("not float32 [2, 1, 2]")));
  EXPECT_THAT(
      [&] {
        model->predict({{"x", Tensor::zeros({DType::kInt32, {2, 2}})}});
      },
      ThrowsMessage<ShapeError>(HasSubstr("not int32 [2, 2]")));
  EXPECT_THAT(
      [&] {
        model->predict({{"x", rows(2)}, {"label", Tensor::zeros({DType::kInt32, {3}})}});
      },
      ThrowsMessage<ShapeError>(HasSubstr("samples")));
  EXPECT_THAT([&] { model->flow("test"); }, ThrowsMessage<ConfigError>(HasSubstr("unknown flow 'test'")));
}

TEST_F(InferenceModelTest, takes_changes_of_the_config) {
  const auto model = InferenceModel::load(file(), {.overrides = {"predict.outputs={twice: fc}"}});
  EXPECT_TRUE(model->predict({{"x", rows(2)}}).contains("twice"));
}

}  // namespace
}  // namespace tpack
