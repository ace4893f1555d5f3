#include "layers/layer.h"

#include <set>

#include <gmock/gmock.h>

#include "layers/cost.h"
#include "layers/initializer.h"
#include "layers/layer_cases.h"
#include "support/graph_text.h"
#include "support/live_fields.h"
#include "testkit/backend_check.h"

namespace tpack {
namespace {

template <class Kind>
void expect_cases(const std::set<std::string>& components) {
  for (const ComponentInfo* info : Registry<Kind>::table().list()) {
    EXPECT_TRUE(components.contains(info->name))
        << info->kind << " " << info->name
        << " has no case with gradients and at most 300 elements in tests/golden/layers.json: add one to "
           "make_layers.py next "
           "to "
           "it and run that script";
  }
}

TEST(Layers, have_a_case_like_costs_and_metrics) {
  std::set<std::string> components;
  for (const LayerCase& c : layer_cases()) components.insert(c.component);
  expect_cases<Layer>(components);
  expect_cases<Cost>(components);
  expect_cases<Metric>(components);
}

/// The graph of a list of layers on an image, in training and in inference.
std::string graphs_of(const std::string& layers_yaml) {
  std::string text;
  for (const Phase phase : {Phase::kTraining, Phase::kInference}) {
    text += graph_text(
        [&](Builder& b) {
          const std::vector<Symbol> image = {b.input("image", {DType::kFloat64, {2, 4, 9, 8}})};
          b.fetch("y", function_of(layers_yaml)(b, image)[0]);
        },
        phase);
  }
  return text;
}

const live::Fields kCall("layer", "Call", {.base = "{network: twin}"});
const live::Fields kWithDefaults("layer", "WithDefaults",
                                 {.values = {{"defaults", "{Conv2D: {filters: 2}}"}}});

TEST(Layers, have_no_field_without_effect) {
  const auto graphs = [](const std::string& item) { return graphs_of("[" + item + "]"); };
  EXPECT_THAT(live::dead_fields(Registry<Layer>::table(), {graphs, {{"network", {"identity"}}}}),
              testing::IsEmpty());
}

TEST(Initializers, have_no_field_without_effect) {
  const auto values = [](const std::string& item) {
    return graphs_of("[{FullyConnected: {units: 5, kernel_initializer: " + item + "}}]");
  };
  EXPECT_THAT(live::dead_fields(Registry<Initializer>::table(), {values}), testing::IsEmpty());
}

class LayerGradient : public testing::TestWithParam<LayerCase> {};

TEST_P(LayerGradient, agrees_with_central_differences) {
  const auto result = testkit::check_gradients(GetParam().function, GetParam().inputs);
  EXPECT_TRUE(result.ok) << result.largest_error << " at " << result.text;
}

TEST_P(LayerGradient, agrees_with_central_differences_in_inference) {
  const auto result =
      testkit::check_gradients(GetParam().function, GetParam().inputs, {.phase = Phase::kInference});
  EXPECT_TRUE(result.ok) << result.largest_error << " at " << result.text;
}

TEST_P(LayerGradient, can_be_differentiated_again) {
  const auto result =
      testkit::check_second_gradients(GetParam().function, GetParam().inputs, {.tolerance = 1e-5});
  EXPECT_TRUE(result.ok) << result.largest_error << " at " << result.text;
}

/// Compares outputs, gradients and variables in both layouts and both phases.
void expect_same_on_processors(const testkit::Function& function, const std::vector<Tensor>& inputs) {
  for (const Phase phase : {Phase::kTraining, Phase::kInference}) {
    const testkit::BackendCheck check(function, inputs, phase);
    for (const char* layout : {"nhwc", "nChw16c"}) {
      const auto result = check.run({.layout = layout, .phase = phase});
      EXPECT_LT(result.largest_error, 2e-5) << layout << ": " << result.text;
    }
  }
}

TEST_P(LayerGradient, is_the_same_on_processors) {
  expect_same_on_processors(GetParam().function, GetParam().inputs);
}

TEST_P(LayerGradient, is_the_same_on_processors_when_differentiated_again) {
  expect_same_on_processors(testkit::with_gradients(GetParam().function), GetParam().inputs);
}

INSTANTIATE_TEST_SUITE_P(All, LayerGradient, testing::ValuesIn(layer_cases()),
                         [](const auto& one) { return one.param.name; });

std::string layer_error(const std::string& yaml, const std::vector<Tensor>& inputs) {
  try {
    testkit::evaluate(function_of(yaml), inputs, DType::kFloat64);
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "";
}

TEST(Layers, say_which_shapes_do_not_fit) {
  const Tensor image = random_tensor({2, 3, 5, 4}, 1);
  const Tensor flat = random_tensor({2, 3}, 1);
  EXPECT_EQ(layer_error("- Conv2D: {filters: 4}", {flat}),
            "layers.yaml:1:3: conv2d_0: needs an input of 4 axes [N, C, H, W], not float64 [2, 3]");
  EXPECT_EQ(layer_error("- Conv2D: {name: c, filters: 4, groups: 2}", {image}),
            "layers.yaml:1:3: c: groups = 2 does not divide the 3 input channels and the 4 filters");
  EXPECT_EQ(
      layer_error("- Add: {input: [x0, x1]}", {image, flat}),
      "layers.yaml:1:3: add_0: adds float64 [2, 3, 5, 4] and float64 [2, 3]; their shapes must be equal");
  EXPECT_EQ(layer_error("- ReLU: {input: [x0, x0]}", {image}),
            "layers.yaml:1:3: relu_0: takes one input, not 2");
  EXPECT_EQ(layer_error("- Residual: {layers: [{Conv2D: {filters: 2}}]}", {image}),
            "layers.yaml:1:3: residual_0: the layers give float64 [2, 2, 5, 4], but the shortcut gives "
            "float64 [2, 3, 5, 4]; add shortcut layers that give the same shape");
}

/// y of a list of layers for one input.
Tensor value_of(const std::string& yaml, const Tensor& x, Phase phase = Phase::kTraining) {
  return testkit::evaluate(function_of(yaml), {x}, DType::kFloat64, phase)[0];
}

TEST(Layers, activations_have_the_values_of_their_formulas) {
  const Tensor x = Tensor::of<double>({2}, {-2, 0.5});
  const auto at = [&](const std::string& yaml, int64_t i) { return value_of(yaml, x).at(i); };
  EXPECT_EQ(at("- ReLU", 0), 0);
  EXPECT_EQ(at("- ReLU", 1), 0.5);
  EXPECT_DOUBLE_EQ(at("- LeakyReLU: {alpha: 0.25}", 0), -0.5);
  EXPECT_NEAR(at("- Tanh", 0), -0.9640275800758169, 1e-15);
  EXPECT_NEAR(at("- Sigmoid", 1), 0.6224593312018546, 1e-15);
  EXPECT_DOUBLE_EQ(at("- Normalize: {scale: 2, offset: -1}", 1), 0);
}

TEST(Layers, pooling_defaults_to_valid_with_the_window_as_stride) {
  const Tensor x = Tensor::of<double>({1, 1, 2, 5}, {1, 2, 3, 4, 9, 5, 6, 7, 8, 9});
  const Tensor max = value_of("- MaxPooling: {window: 2}", x);
  EXPECT_EQ(max.shape(), (Shape{1, 1, 1, 2}));
  EXPECT_EQ(max.at(0), 6);
  EXPECT_EQ(max.at(1), 8);
  EXPECT_EQ(value_of("- AvgPooling: {window: 2}", x).at(0), 3.5);
}

TEST(Layers, dropout_drops_in_training_only_and_keeps_the_mean) {
  const Tensor ones = Tensor::of<double>({10000}, std::vector<double>(10000, 1));
  const Tensor dropped = value_of("- Dropout: {rate: 0.25}", ones);
  double sum = 0;
  for (int64_t i = 0; i < dropped.elements(); ++i) {
    EXPECT_TRUE(dropped.at(i) == 0 || std::abs(dropped.at(i) - 1 / 0.75) < 1e-12);
    sum += dropped.at(i);
  }
  EXPECT_NEAR(sum / 10000, 1, 5 * std::sqrt(0.25 / 0.75 / 10000));  // five standard deviations
  EXPECT_TRUE(bit_equal(value_of("- Dropout: {rate: 0.25}", ones, Phase::kInference), ones));
}

TEST(Layers, batch_norm_normalizes_channels_of_the_batch) {
  const Tensor y = value_of("- BatchNorm: {epsilon: 1.0e-12}", random_tensor({8, 2, 3, 3}, 4));
  for (int64_t channel = 0; channel < 2; ++channel) {
    double sum = 0;
    double squares = 0;
    for (int64_t n = 0; n < 8; ++n) {
      for (int64_t i = 0; i < 9; ++i) {
        const double v = y.at((n * 2 + channel) * 9 + i);
        sum += v;
        squares += v * v;
      }
    }
    EXPECT_NEAR(sum / 72, 0, 1e-12);
    EXPECT_NEAR(squares / 72, 1, 1e-9);
  }
}

}  // namespace
}  // namespace tpack
