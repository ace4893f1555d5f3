#include "predict/predictor.h"

#include <cmath>

#include <gmock/gmock-matchers.h>

#include "backend/inference_tower.h"
#include "backend/open_device.h"
#include "support/small_model.h"
#include "testkit/gradient_check.h"

namespace tpack {
namespace {

class PredictorTest : public testing::Test {
 protected:
  std::vector<PredictOutput> outputs(const std::string& yaml) {
    Diagnostics errors;
    auto parsed = parse_predict_outputs(parse_yaml(yaml, "p.yaml"), errors);
    errors.throw_if_any();
    return parsed;
  }
  std::string error_of(const std::string& yaml, const std::vector<std::string>& given) {
    try {
      Predictor(tower_.handle(), outputs(yaml), given);
    } catch (const ConfigError& error) {
      return error.what();
    }
    return "";
  }

  std::unique_ptr<TowerFunction> model_ = model_of(kSmallModel);
  InferenceTower tower_{*model_, make_reference_device("cpu:0", {})};
  Tensor x_ = testkit::random_tensor({4, 5}, 3, DType::kFloat32);
};

TEST_F(PredictorTest, gives_outputs_without_labels) {
  Predictor predictor(tower_.handle(), outputs("{scores: fc1, probability: {Softmax: fc1}}"), {"x"});
  const std::vector<Tensor> values = predictor.run({x_});
  ASSERT_EQ(values.size(), 2U);
  EXPECT_EQ(values[0].shape(), (Shape{4, 3}));
  for (int64_t n = 0; n < 4; ++n) {
    double total = 0;
    for (int64_t k = 0; k < 3; ++k) total += std::exp(values[0].at(3 * n + k));
    for (int64_t k = 0; k < 3; ++k)
      EXPECT_NEAR(values[1].at(3 * n + k), std::exp(values[0].at(3 * n + k)) / total, 1e-6);
  }
}

TEST_F(PredictorTest, knows_what_values_of_outputs_mean) {
  const Predictor predictor(tower_.handle(),
                            outputs("{raw: fc1, p: {Softmax: fc1}, set: {Sigmoid: fc1}, t: {Tanh: fc1}}"),
                            {"x", "label"});
  EXPECT_EQ(predictor.needed_inputs(), std::vector<std::string>{"x"}) << "labels are not needed";
  const std::vector<OutputMeaning> expected = {OutputMeaning(), kClassProbabilities, kProbabilities,
                                               OutputMeaning{-1, 1}};
  for (size_t i = 0; i < expected.size(); ++i) {
    EXPECT_EQ(predictor.forms()[i].meaning, expected[i]) << i;
    EXPECT_EQ(predictor.forms()[i].spec.str(), "float32 [3]") << i;
  }
}

TEST_F(PredictorTest, a_batch_of_any_size_gives_each_sample_its_own_values) {
  Predictor predictor(tower_.handle(), outputs("[fc1]"), {"x"});
  const Tensor all = predictor.run({x_})[0];
  for (int64_t n = 0; n < 4; ++n) {
    const Tensor one = predictor.run({x_.rows(n, n + 1)})[0];
    EXPECT_LT(max_difference(one, all.rows(n, n + 1)), 1e-6);
  }
}

TEST_F(PredictorTest, takes_inputs_in_any_order) {
  Predictor alone(tower_.handle(), outputs("[fc1]"), {"x"});
  const Tensor label = Tensor::zeros({DType::kInt32, {4}});
  Predictor reversed(tower_.handle(), outputs("[fc1]"), {"label", "x"});
  EXPECT_TRUE(bit_equal(reversed.run({label, x_})[0], alone.run({x_})[0]));

  const auto two = model_of(
      "inputs: {q: {shape: []}, c: {shape: []}}\nlayers:\n"
      "  - Elementwise: {name: o, input: q, expression: x - 10 * c}\n"
      "cost: [MeanSquaredError: {predictions: o, targets: c}]\n");
  InferenceTower tower(*two, open_device("cpu:0", DeviceOptions{}));
  Predictor by_name(tower.handle(), outputs("[o]"), {"c", "q"});
  const Tensor o = by_name.run({Tensor::of<float>({2}, {1, 2}), Tensor::of<float>({2}, {7, 8})})[0];
  EXPECT_EQ(o.at(0), -3);
  EXPECT_EQ(o.at(1), -12);
}

TEST_F(PredictorTest, values_outlive_the_next_call) {
  Predictor predictor(tower_.handle(), outputs("[fc1]"), {"x"});
  const Tensor first = predictor.run({x_})[0];
  const Tensor kept = first.clone();
  predictor.run({testkit::random_tensor({4, 5}, 4, DType::kFloat32)});
  EXPECT_TRUE(bit_equal(first, kept));
}

TEST_F(PredictorTest, rejects_names_that_are_not_there) {
  EXPECT_EQ(error_of("[fc2]", {"x"}), "p.yaml:1:2: unknown layer or input 'fc2'; did you mean 'fc0'?");
  EXPECT_THAT(error_of("[fc1]", {"y"}), testing::StartsWith("unknown input 'y'"));
}

TEST_F(PredictorTest, rejects_outputs_that_need_an_input_which_is_not_given) {
  EXPECT_EQ(
      error_of("[fc1]", {"label"}),
      "the outputs depend on input 'x', which is missing; add it (tpack infer: --input x=VALUE), or choose "
      "outputs that do not need it (predict: {outputs: ...})");
}

TEST_F(PredictorTest, rejects_outputs_over_the_whole_batch) {
  const auto over_the_batch = [](const std::string& begin) {
    return testing::StartsWith(begin + " has one value for the whole batch, not one per sample");
  };
  EXPECT_THAT(error_of("{p: {ReduceSum: fc0}}", {"x"}), over_the_batch("p.yaml:1:17: output 'fc0'"));
  for (const char* more : {"", ", keep_dims: true"}) {
    EXPECT_THAT(error_of("{p: {ReduceMean: {input: fc0, axes: [0]" + std::string(more) + "}}}", {"x"}),
                over_the_batch("p.yaml:1:26: output 'fc0'"));
  }
  EXPECT_EQ(error_of("{p: {ReduceMean: {input: fc0, axes: [1]}}}", {"x"}), "");
}

/// Also where they have as many values as the batch that shows the shapes has samples.
TEST_F(PredictorTest, rejects_outputs_over_the_whole_batch_of_any_size) {
  for (const char* output : {"fc0", "fc1", "x"}) {
    EXPECT_THAT(error_of("{p: {ReduceMean: {input: " + std::string(output) + ", axes: [0]}}}", {"x"}),
                testing::HasSubstr("has one value for the whole batch"))
        << output;
  }
}

TEST_F(PredictorTest, predictors_of_other_outputs_plan_apart) {
  const auto model = model_of(R"(
inputs:
  image: {shape: [8, 8, 3], layout: HWC}
  label: {shape: [], dtype: int32}
layers:
  - Conv2D: {name: conv0, kernel: 3, filters: 16}
  - Conv2D: {name: conv1, kernel: 3, filters: 4}
  - FullyConnected: {name: fc, units: 3}
cost:
  - SoftmaxCrossEntropy: {logits: fc, labels: label}
)");
  InferenceTower tower(
      *model, open_device("cpu:0", DeviceOptions{.algorithm = DeviceOptions::Algorithm::kHeuristic}));
  const Tensor image = testkit::random_tensor({2, 8, 8, 3}, 1, DType::kFloat32);
  std::vector<Tensor> values;
  for (const char* output : {"[conv0]", "[fc]", "[conv0]"}) {
    Predictor predictor(tower.handle(), outputs(output), {"image"});
    values.push_back(predictor.run({image})[0]);
  }
  EXPECT_EQ(values[0].shape(), (Shape{2, 16, 8, 8}));
  EXPECT_EQ(values[1].shape(), (Shape{2, 3}));
  EXPECT_TRUE(bit_equal(values[2], values[0]));
  EXPECT_EQ(tower.handle().plan->sections.size(), 2U);
}

}  // namespace
}  // namespace tpack
