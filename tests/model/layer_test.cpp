#include "model/layer.h"

#include <limits>
#include <set>

#include <gmock/gmock-more-matchers.h>

#include "graph/passes/gradient.h"
#include "layers/initializer.h"
#include "layers/layer_cases.h"
#include "layers/on_processors.h"
#include "model/cost.h"
#include "support/errors.h"
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

TEST(Layers, are_in_the_cases_that_cover_them) {
  for (const LayerCase& c : layer_cases())
    EXPECT_TRUE(has_component(parse_yaml(c.yaml, "case.yaml"), c.component))
        << "case " << c.name << " covers " << c.component << ", which is not in it: " << c.yaml;
}

/// The graph of a list of layers on an image x0, in training and in inference. x1 has numbers, x2 is a
/// matrix, x3 has a number for each of its rows.
std::string graphs_of(const std::string& layers_yaml) {
  std::string text;
  for (const Phase phase : {Phase::kTraining, Phase::kInference}) {
    text += graph_text(
        [&](Builder& b) {
          const std::vector<Symbol> inputs = {
              b.input("image", {DType::kFloat64, {2, 4, 9, 8}}), b.input("numbers", {DType::kInt32, {2}}),
              b.input("matrix", {DType::kFloat64, {3, 3}}), b.input("choices", {DType::kInt32, {3}})};
          b.fetch("y", function_of(layers_yaml)(b, inputs)[0]);
        },
        phase);
  }
  return text;
}

const live::Fields kCall("layer", "Call", {.base = "{network: twin}"});
/// The graphs of an item that gets this `input`.
live::Build on(const std::string& input) {
  return [input](const std::string& item) {
    const size_t params = item.find('{', 1) + 1;
    const std::string separator = item[params] == '}' ? "" : ", ";
    return graphs_of("[" + item.substr(0, params) + "input: " + input + separator + item.substr(params) +
                     "]");
  };
}

const live::Fields kElementwise("layer", "Elementwise", {.values = {{"expression", "x * 2"}}});
const live::Fields kEmbedding("layer", "Embedding", {.build = on("x1")});
const live::Fields kFullyConnected(
    "layer", "FullyConnected",
    {.values = {{"adapter_rank", "2"}},
     .left_out = {{"adapter_alpha", "needs adapter_rank; fully_connected_test has its effect"}}});
const live::Fields kGather("layer", "Gather", {.build = on("[x0, x1]")});
const live::Fields kGradient("layer", "Gradient", {.base = "{wrt: x0}", .values = {{"wrt", "x2"}}});
const live::Fields kMatMul("layer", "MatMul", {.build = on("[x2, x2]")});
const live::Fields kOneHot("layer", "OneHot", {.build = on("x1")});
/// Of a Split, the graph of a layer on its first part.
std::string graphs_of_split(const std::string& item) {
  const size_t params = item.find('{', 1) + 1;
  const std::string separator = item[params] == '}' ? "" : ", ";
  return graphs_of("[" + item.substr(0, params) + "name: s" + separator + item.substr(params) +
                   ", {Tanh: {input: s.0}}]");
}
const live::Fields kSplit("layer", "Split",
                          {.values = {{"parts", "4"}, {"sizes", "[1, 3]"}, {"axis", "3"}},
                           .left_out = {{"sizes", "not together with parts; tests of it are below"}},
                           .build = graphs_of_split});
const live::Fields kTdError("layer", "TDError", {.build = on("[x2, x3, x3, x3, x2]")});
const live::Fields kWithDefaults("layer", "WithDefaults",
                                 {.values = {{"defaults", "{Conv2D: {filters: 2}}"}}});

const live::Fields kScaleLike("layer", "ScaleLike",
                              {.base = "{data: x1}",
                               .left_out = {{"data",
                                             "the graph is the same; train_tables_test has the values"}},
                               .build = on("x2")});

const live::Fields kTableInput("layer", "TableInput", {.build = [](const std::string& item) {
                                 return graphs_of("[{FullyConnected: {units: 3}}, " + item + "]");
                               }});

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

std::string error_of_layers(const std::string& yaml) {
  return error_from([&] { graphs_of(yaml); });
}

using Parts = std::vector<std::string>;

TEST(Split, gives_parts_that_are_named) {
  EXPECT_EQ(error_of_layers("[{Split: {name: s, sizes: [1, 3]}}, {Tanh: {input: s.1}}]"), "no error");
  EXPECT_NE(graphs_of("[{Split: {name: s, sizes: [1, 3]}}, {Tanh: {input: s.1}}]"),
            graphs_of("[{Split: {name: s, sizes: [3, 1]}}, {Tanh: {input: s.1}}]"));
}

TEST(Layers, say_which_parts_and_axes_do_not_fit) {
  for (const auto& [layers, parts] :
       {std::pair<std::string, Parts>("[{Split: {name: s, parts: 2}}, Tanh]",
                                      {"layers.yaml:1:32:", "tanh_0 needs an 'input'", "s.0, s.1"}),
        {"[{Split: {name: s, parts: 2}}, {Tanh: {input: s}}]", {"layers.yaml:1:47:", "did you mean 's.0'?"}},
        {"[{Repeat: {count: 1, layers: [{Split: {name: s, parts: 2}}]}}, Tanh]",
         {"layers.yaml:1:32:", "layer s is the last one inside", "add a layer that uses them"}},
        {"[{Split: {name: s, parts: 3}}, {Tanh: {input: s.0}}]",
         {"layers.yaml:1:3:", "size 4", "set 'sizes'"}},
        {"[{Split: {name: s, sizes: [1, 2]}}, {Tanh: {input: s.0}}]",
         {"layers.yaml:1:3:", "has size 4", "the sum of 'sizes' is 3"}},
        {"[{Split: {name: s}}, {Tanh: {input: s.0}}]", {"set one of 'parts' and 'sizes'"}},
        {"[{Split: {name: s, parts: 2}}, {Tanh: {name: s.1, input: s.0}}]",
         {"layers.yaml:1:33:", "'s.1' is also the name of an", "rename one of them"}},
        {"[{Tanh: {name: s.1}}, {Split: {name: s, parts: 2}}, {Tanh: {input: s.0}}]",
         {"layers.yaml:1:24:", "both named 's.1'", "rename one of them"}},
        {"[{Softmax: {name: y, axis: 0}}]", {"y: axis 0 of the input", "is the batch"}},
        {"[{LogSoftmax: {name: y, axis: 0}}]", {"y: axis 0 of the input", "is the batch"}},
        {"[{CumulativeSum: {name: y, axis: 0}}]", {"y: axis 0 of the input", "is the batch"}},
        {"[{LayerNorm: {name: y, last_axes: 4}}]", {"'last_axes' is 4, but a sample"}}})
    for (const std::string& part : parts) EXPECT_TRUE(says(error_of_layers(layers), {part})) << layers;
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
TEST_P(LayerGradient, is_the_same_on_processors) {
  expect_same_on_processors(GetParam().function, GetParam().inputs);
}

TEST_P(LayerGradient, is_the_same_on_processors_when_differentiated_again) {
  expect_same_on_processors(testkit::with_gradients(GetParam().function), GetParam().inputs);
}

INSTANTIATE_TEST_SUITE_P(All, LayerGradient, testing::ValuesIn(layer_cases()),
                         [](const auto& one) { return one.param.name; });

std::string layer_error(const std::string& yaml, const std::vector<Tensor>& inputs) {
  return error_from([&] { testkit::evaluate(function_of(yaml), inputs, DType::kFloat64); });
}

TEST(Layers, say_which_shapes_do_not_fit) {
  const Tensor image = random_tensor({2, 3, 5, 4}, 1);
  const Tensor flat = random_tensor({2, 3}, 1);
  struct Case {
    std::string layer;
    std::vector<Tensor> inputs;
    std::vector<std::string> parts;
    std::string place = "layers.yaml:1:3:";
  };
  for (const Case& c : std::vector<Case>{
           {"Conv2D: {filters: 4}", {flat}, {"conv2d_0", "4 axes [N, C, H, W], not float64 [2, 3]"}},
           {"Conv2D: {name: c, filters: 4, groups: 2}", {image}, {"c: groups = 2", "3 input channels"}},
           {"Add: {input: [x0, x1]}", {image, flat}, {"add_0: adds", "their shapes must be equal"}},
           {"ReLU: {input: [x0, x0]}", {image}, {"relu_0: takes one input, not 2"}},
           {"Residual: {layers: [{Conv2D: {filters: 2}}]}",
            {image},
            {"residual_0", "add shortcut layers that"}},
           {"Concat: {input: [x0, x1]}", {image, flat}, {"concat_0: cannot concatenate", "all other"}},
           {"MaxPooling: {name: half, window: 2}\n"
            "- Conv2DTranspose: {name: twice, filters: 3, kernel: 2, stride: 2}\n"
            "- Concat: {input: [x0, twice]}",
            {image},
            {"float64 [2, 3, 5, 4] and float64", "an image whose size is halved"},
            "layers.yaml:3:3:"},
           {"ReduceSum: {axes: [2]}", {flat}, {"reduce_sum_0", "has no axis 2; must be from -2 to 1"}},
           {"ReduceSum: {axes: [1, -1]}", {flat}, {"reduce_sum_0: axis -1 is named twice"}},
           {"Where: {input: [x0, x0]}", {flat}, {"where_0: takes 3 inputs"}},
           {"OneHot: {classes: 3}", {flat}, {"one_hot_0", "an integer type, not float64 [2, 3]"}},
           {"BroadcastTo: {shape: [4]}", {flat}, {"broadcast_to_0", "do not broadcast: 3 against 4"}},
           {"BroadcastTo: {shape: [1]}", {flat}, {"broadcast_to_0", "each size must be equal or 1"}},
           {"Reshape: {shape: [2, -1]}", {flat}, {"reshape_0", "6 elements against 4"}},
           {"Reshape: {shape: [-1, -1]}", {flat}, {"'shape' has more than one -1"}, "layers.yaml:1:12:"},
           {"LayerNorm",
            {random_tensor({2, 3, 4}, 1)},
            {"layer_norm_0: needs an input", "for other inputs, set"}},
           {"Gradient: {input: x0, wrt: x1}",
            {flat, flat},
            {"'x1'", "name an output of floats"},
            "layers.yaml:1:30:"},
           {"Gradient: y", {flat}, {"unknown layer or input 'y'; known: x0"}, "layers.yaml:1:13:"}}) {
    const std::string error = layer_error("- " + c.layer, c.inputs);
    EXPECT_TRUE(says(error, {c.place})) << c.layer;
    for (const std::string& part : c.parts) EXPECT_TRUE(says(error, {part})) << c.layer;
  }
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

TEST(Layers, elu_and_softplus_are_smooth_at_zero_and_finite_everywhere) {
  const Tensor x = Tensor::of<double>({4}, {0, -800, 800, 40});
  const auto with_gradient = [&](const std::string& layer) {
    return testkit::evaluate(
        [&](Builder& b, std::span<const Symbol> in) {
          const Symbol y = function_of("- " + layer)(b, in)[0];
          return std::vector{y, gradients(b, b.reduce_sum(y), in)[0]};
        },
        {x}, DType::kFloat64);
  };
  const auto elu = with_gradient("ELU: {alpha: 0.5}");
  const auto softplus = with_gradient("Softplus");
  const auto expect = [](const Tensor& found, const std::vector<double>& values) {
    for (size_t i = 0; i < values.size(); ++i) EXPECT_DOUBLE_EQ(found.at(static_cast<int64_t>(i)), values[i]);
  };
  expect(elu[0], {0, -0.5, 800, 40});
  expect(elu[1], {0.5, 0, 1, 1});
  expect(softplus[0], {std::log(2), 0, 800, 40});
  expect(softplus[1], {0.5, 0, 1, 1});
}

TEST(Layers, numbers_that_a_table_does_not_have_give_nan) {
  const Tensor table = Tensor::of<double>({2, 2}, {1, 2, 3, 4});
  const Tensor numbers = Tensor::of<int32_t>({3}, {1, 2, -1});
  const Tensor y =
      testkit::evaluate(function_of("- Gather: {input: [x0, x1]}"), {table, numbers}, DType::kFloat64)[0];
  EXPECT_EQ(y.at(0), 3);
  EXPECT_EQ(y.at(1), 4);
  for (int64_t i = 2; i < 6; ++i) EXPECT_TRUE(std::isnan(y.at(i)));
}

TEST(Layers, arg_max_takes_the_first_of_equal_ones_and_nan) {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  const Tensor y = value_of("- ArgMax", Tensor::of<double>({3, 3}, {1, 2, 2, kNan, 9, kNan, 3, kNan, 5}));
  EXPECT_EQ(y.shape(), Shape{3});
  EXPECT_EQ(y.at(0), 1);
  EXPECT_EQ(y.at(1), 0);
  EXPECT_EQ(y.at(2), 1);
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

TEST(Layers, batch_norm_rejects_one_value_per_channel_in_training) {
  const Tensor vector = random_tensor({1, 3}, 4);
  for (const Tensor& x : {vector, random_tensor({1, 3, 1, 1}, 4)}) {
    EXPECT_THAT([&] { value_of("- BatchNorm", x); },
                testing::ThrowsMessage<ConfigError>(testing::HasSubstr(
                    "batch_norm_0: a batch of shape " + x.shape().str() + " has one value per channel")));
    EXPECT_EQ(value_of("- BatchNorm", x, Phase::kInference).shape(), x.shape());
  }
  EXPECT_EQ(value_of("- BatchNorm", random_tensor({1, 3, 1, 2}, 4)).elements(), 6);
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
