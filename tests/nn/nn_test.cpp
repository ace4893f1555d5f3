#include "nn/nn.h"

#include <set>

#include <gmock/gmock-matchers.h>

#include "layers/layer_cases.h"
#include "support/graph_text.h"

namespace tpack {
namespace {

/// A layer of a config and the call in C++ that stands for it. Both are named "f".
struct Twin {
  std::string name;
  std::string yaml;
  std::function<Symbol(Builder& b, Symbol x)> call;
  TensorSpec input = {DType::kFloat64, {2, 4, 9, 8}};
};

void PrintTo(const Twin& twin, std::ostream* out) { *out << twin.name; }

std::vector<Twin> twins_of_convolutions() {
  return {
      {"conv2d", "Conv2D: {name: f, filters: 6}",
       [](Builder& b, Symbol x) { return nn::conv2d(b, x, "f", {.filters = 6}); }},
      {"conv2d_with_all_options",
       "Conv2D: {name: f, filters: 6, kernel: [3, 5], stride: [2, 1], dilation: [2, 1], padding: valid, "
       "groups: "
       "2, activation: ReLU, kernel_initializer: {VarianceScaling: {scale: 1, mode: fan_out, distribution: "
       "uniform}}, bias_initializer: {Constant: 0.5}}",
       [](Builder& b, Symbol x) {
         return nn::conv2d(
             b, x, "f",
             {.filters = 6,
              .kernel = {3, 5},
              .stride = {2, 1},
              .dilation = {2, 1},
              .padding = PaddingRule::kValid,
              .groups = 2,
              .activation = nn::relu,
              .kernel_initializer = nn::variance_scaling(
                  {.scale = 1, .mode = nn::FanMode::kFanOut, .distribution = nn::Distribution::kUniform}),
              .bias_initializer = nn::constant(0.5)});
       }},
      {"conv2d_with_zeros_and_no_bias", "Conv2D: {name: f, filters: 6, padding: [2, 1], use_bias: false}",
       [](Builder& b, Symbol x) {
         return nn::conv2d(b, x, "f", {.filters = 6, .padding = Padding2{2, 1, 2, 1}, .use_bias = false});
       }},
      {"conv2d_transpose", "Conv2DTranspose: {name: f, filters: 3, kernel: 4, stride: 2}",
       [](Builder& b, Symbol x) {
         return nn::conv2d_transpose(b, x, "f", {.filters = 3, .kernel = 4, .stride = 2});
       }},
      {"conv2d_transpose_with_all_options",
       "Conv2DTranspose: {name: f, filters: 3, kernel: 4, stride: [3, 2], padding: valid, activation: ReLU, "
       "kernel_initializer: {Normal: {mean: 1, stddev: 0.02}}, bias_initializer: {Normal: {stddev: 1}}}",
       [](Builder& b, Symbol x) {
         return nn::conv2d_transpose(b, x, "f",
                                     {.filters = 3,
                                      .kernel = {4, 4},
                                      .stride = {3, 2},
                                      .padding = PaddingRule::kValid,
                                      .activation = nn::relu,
                                      .kernel_initializer = nn::normal(1, 0.02),
                                      .bias_initializer = nn::normal(0, 1)});
       }},
      {"conv2d_transpose_without_bias", "Conv2DTranspose: {name: f, filters: 3, padding: 1, use_bias: false}",
       [](Builder& b, Symbol x) {
         return nn::conv2d_transpose(b, x, "f",
                                     {.filters = 3, .padding = Padding2{1, 1, 1, 1}, .use_bias = false});
       }},
  };
}

std::vector<Twin> twins_of_products() {
  return {
      {"dense", "FullyConnected: {name: f, units: 5}",
       [](Builder& b, Symbol x) { return nn::dense(b, x, "f", {.units = 5}); }},
      {"dense_with_all_options",
       "FullyConnected: {name: f, units: 5, flatten: false, activation: ReLU, kernel_initializer: "
       "{VarianceScaling: {distribution: truncated_normal, mode: fan_average}}, bias_initializer: {Constant: "
       "2}}",
       [](Builder& b, Symbol x) {
         return nn::dense(
             b, x, "f",
             {.units = 5,
              .flatten = false,
              .activation = nn::relu,
              .kernel_initializer = nn::variance_scaling(
                  {.mode = nn::FanMode::kFanAverage, .distribution = nn::Distribution::kTruncatedNormal}),
              .bias_initializer = nn::constant(2)});
       }},
      {"dense_without_bias", "FullyConnected: {name: f, units: 5, use_bias: false}",
       [](Builder& b, Symbol x) { return nn::dense(b, x, "f", {.units = 5, .use_bias = false}); }},
      {"embedding",
       "Embedding: {name: f, entries: 7, units: 3}",
       [](Builder& b, Symbol x) { return nn::embedding(b, x, "f", {.entries = 7, .units = 3}); },
       {DType::kUInt8, {2, 5}}},
      {"table_input",
       "TableInput: {name: f, width: 5, frequencies: 3, deviation: 2}",
       [](Builder& b, Symbol x) {
         return nn::table_input(b, x, "f", {.width = 5, .frequencies = 3, .deviation = 2});
       },
       {DType::kFloat32, {2, 3}}},
      {"embedding_with_initializer",
       "Embedding: {name: f, entries: 7, units: 3, initializer: {VarianceScaling: {mode: fan_out}}}",
       [](Builder& b, Symbol x) {
         return nn::embedding(
             b, x, "f",
             {.entries = 7, .units = 3, .initializer = nn::variance_scaling({.mode = nn::FanMode::kFanOut})});
       },
       {DType::kInt32, {2}}},
  };
}

/// A function without variables takes no name of a scope.
template <class Call>
std::function<Symbol(Builder&, Symbol)> in_scope(Call call) {
  return [call](Builder& b, Symbol x) {
    const Builder::NameScope scope(b, "f");
    return call(b, x);
  };
}

std::vector<Twin> twins_of_norms() {
  return {
      {"batch_norm", "BatchNorm: {name: f}", [](Builder& b, Symbol x) { return nn::batch_norm(b, x, "f"); }},
      {"batch_norm_with_options",
       "BatchNorm: {name: f, momentum: 0.5, epsilon: 0.1, center: false, gamma_initializer: {Constant: 2}}",
       [](Builder& b, Symbol x) {
         return nn::batch_norm(
             b, x, "f",
             {.momentum = 0.5, .epsilon = 0.1, .center = false, .gamma_initializer = nn::constant(2)});
       }},
      {"batch_norm_of_replicas", "BatchNorm: {name: f, scale: false, sync_statistics: true}",
       [](Builder& b, Symbol x) {
         return nn::batch_norm(b, x, "f", {.scale = false, .sync_statistics = true});
       }},
      {"batch_norm_of_parts", "BatchNorm: {name: f, virtual_batch_size: 1}",
       [](Builder& b, Symbol x) { return nn::batch_norm(b, x, "f", {.virtual_batch_size = 1}); }},
      {"batch_renorm", "BatchRenorm: {name: f, rmax: 2, dmax: 0.5, momentum: 0.5, scale: false}",
       [](Builder& b, Symbol x) {
         return nn::batch_renorm(b, x, "f", {.rmax = 2, .dmax = 0.5, .momentum = 0.5, .scale = false});
       }},
      {"batch_norm_with_averages", "BatchNorm: {name: f, training: false}",
       [](Builder& b, Symbol x) { return nn::batch_norm(b, x, "f", {.training = false}); }},
      {"layer_norm", "LayerNorm: {name: f}", [](Builder& b, Symbol x) { return nn::layer_norm(b, x, "f"); }},
      {"layer_norm_of_last_axes",
       "LayerNorm: {name: f, last_axes: 2, epsilon: 0.1, gamma_initializer: {Constant: 2}}",
       [](Builder& b, Symbol x) {
         return nn::layer_norm(b, x, "f",
                               {.last_axes = 2, .epsilon = 0.1, .gamma_initializer = nn::constant(2)});
       }},
      {"instance_norm", "InstanceNorm: {name: f, center: false}",
       [](Builder& b, Symbol x) { return nn::instance_norm(b, x, "f", {.center = false}); }},
      {"instance_norm_without_scale", "InstanceNorm: {name: f, scale: false, epsilon: 0.1}",
       [](Builder& b, Symbol x) { return nn::instance_norm(b, x, "f", {.epsilon = 0.1, .scale = false}); }},
      {"group_norm", "GroupNorm: {name: f, groups: 2, center: false}",
       [](Builder& b, Symbol x) { return nn::group_norm(b, x, "f", {.groups = 2, .center = false}); }},
      {"local_response_norm", "LRN: {name: f, size: 3, alpha: 0.1, beta: 0.5, k: 2}",
       in_scope([](Builder& b, Symbol x) {
         return nn::local_response_norm(b, x, {.size = 3, .alpha = 0.1, .beta = 0.5, .k = 2});
       })},
  };
}

std::vector<Twin> twins_of_others() {
  return {
      {"max_pooling", "MaxPooling: {name: f}",
       in_scope([](Builder& b, Symbol x) { return nn::max_pooling(b, x); })},
      {"max_pooling_with_options", "MaxPooling: {name: f, window: 3, stride: [2, 1], padding: same}",
       in_scope([](Builder& b, Symbol x) {
         return nn::max_pooling(b, x,
                                {.window = {3, 3}, .stride = Size2{2, 1}, .padding = PaddingRule::kSame});
       })},
      {"avg_pooling", "AvgPooling: {name: f, window: [3, 2], padding: 1}", in_scope([](Builder& b, Symbol x) {
         return nn::avg_pooling(b, x, {.window = {3, 2}, .padding = Padding2{1, 1, 1, 1}});
       })},
      {"global_avg_pooling", "GlobalAvgPooling: {name: f}", in_scope(nn::global_avg_pooling)},
      {"resize", "Resize: {name: f, size: [5, 11], align_corners: true}", in_scope([](Builder& b, Symbol x) {
         return nn::resize(b, x, {.size = Size2{5, 11}, .align_corners = true});
       })},
      {"pixel_shuffle", "PixelShuffle: {name: f, factor: 2}",
       in_scope([](Builder& b, Symbol x) { return nn::pixel_shuffle(b, x, 2); })},
      {"fixed_unpooling", "FixedUnPooling: {name: f, window: [2, 3]}", in_scope([](Builder& b, Symbol x) {
         return nn::fixed_unpooling(b, x, {2, 3});
       })},
      {"global_max_pooling", "GlobalMaxPooling: {name: f}", in_scope(nn::global_max_pooling)},
      {"blur_pooling", "BlurPool: {name: f, stride: [3, 1]}", in_scope([](Builder& b, Symbol x) {
         return nn::blur_pooling(b, x, {3, 1});
       })},
      {"channel_shuffle", "ChannelShuffle: {name: f, groups: 2}",
       in_scope([](Builder& b, Symbol x) { return nn::channel_shuffle(b, x, 2); })},
      {"squeeze_excite", "SqueezeExcite: {name: f, ratio: 2}",
       [](Builder& b, Symbol x) { return nn::squeeze_excite(b, x, "f", {.ratio = 2}); }},
      {"squeeze_excite_with_options",
       "SqueezeExcite: {name: f, units: 3, use_bias: false, activation: Tanh, gate: Tanh, "
       "kernel_initializer: "
       "{Constant: 2}}",
       [](Builder& b, Symbol x) {
         const auto tanh = [](Builder& builder, Symbol y) { return builder.tanh(y); };
         return nn::squeeze_excite(b, x, "f",
                                   {.units = 3,
                                    .use_bias = false,
                                    .activation = tanh,
                                    .gate = tanh,
                                    .kernel_initializer = nn::constant(2)});
       }},
      {"spatial_dropout", "SpatialDropout: {name: f, rate: 0.25}",
       [](Builder& b, Symbol x) { return nn::spatial_dropout(b, x, "f", 0.25); }},
      {"drop_path", "DropPath: {name: f, rate: 0.25}",
       [](Builder& b, Symbol x) { return nn::drop_path(b, x, "f", 0.25); }},
      {"quantize_activation", "QuantizeActivation: {name: f, bits: 3}",
       in_scope([](Builder& b, Symbol x) { return nn::quantize_activation(b, x, 3); })},
      {"quantize_weight", "QuantizeWeight: {name: f, bits: 1}",
       in_scope([](Builder& b, Symbol x) { return nn::quantize_weight(b, x, 1); })},
      {"conv2d_of_quantized_weights", "Conv2D: {name: f, filters: 6, kernel_transform: {QuantizeWeight: 2}}",
       [](Builder& b, Symbol x) {
         return nn::conv2d(b, x, "f", {.filters = 6, .kernel_transform = [](Builder& builder, Symbol w) {
                                         return nn::quantize_weight(builder, w, 2);
                                       }});
       }},
      {"dropout", "Dropout: {name: f, rate: 0.25}",
       [](Builder& b, Symbol x) { return nn::dropout(b, x, "f", 0.25); }},
      {"relu", "ReLU: {name: f}", in_scope(nn::relu)},
      {"prelu", "PReLU: {name: f}", [](Builder& b, Symbol x) { return nn::prelu(b, x, "f"); }},
      {"prelu_of_channels", "PReLU: {name: f, init: 0.25, per_channel: true}",
       [](Builder& b, Symbol x) { return nn::prelu(b, x, "f", {.init = 0.25, .per_channel = true}); }},
      {"maxout", "Maxout: {name: f, pieces: 4}",
       in_scope([](Builder& b, Symbol x) { return nn::maxout(b, x, 4); })},
      {"softmax", "Softmax: {name: f, axis: 1}",
       in_scope([](Builder& b, Symbol x) { return nn::softmax(b, x, 1); })},
  };
}

std::vector<Twin> all_twins() {
  std::vector<Twin> all = twins_of_convolutions();
  for (const auto& more : {twins_of_products(), twins_of_norms(), twins_of_others()})
    all.insert(all.end(), more.begin(), more.end());
  return all;
}

class NnFunction : public testing::TestWithParam<Twin> {};

TEST_P(NnFunction, emits_the_graph_of_the_layer) {
  const Twin& twin = GetParam();
  for (const Phase phase : {Phase::kTraining, Phase::kInference}) {
    const auto text_of = [&](const std::function<Symbol(Builder&, Symbol)>& network) {
      return graph_text([&](Builder& b) { b.fetch("y", network(b, b.input("x", twin.input))); }, phase);
    };
    const testkit::Function layer = function_of("- " + twin.yaml);
    const std::string of_layer = text_of([&](Builder& b, Symbol x) { return layer(b, std::vector{x})[0]; });
    EXPECT_EQ(text_of(twin.call), of_layer);
  }
}

INSTANTIATE_TEST_SUITE_P(All, NnFunction, testing::ValuesIn(all_twins()),
                         [](const auto& one) { return one.param.name; });

std::string error_of(const std::function<Symbol(Builder& b, Symbol x)>& call, const TensorSpec& input) {
  Graph graph;
  VariableTable table;
  Builder b(graph, table, {});
  try {
    call(b, b.input("x", input));
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "";
}

const TensorSpec kImage = {DType::kFloat32, {2, 3, 5, 4}};
const TensorSpec kMatrix = {DType::kFloat32, {2, 3}};
const TensorSpec kNumber = {DType::kFloat32, {}};

TEST(NnErrors, name_the_scope_where_one_is_open) {
  const auto conv = [](Builder& b, Symbol x) { return nn::conv2d(b, x, {.filters = 4}); };
  EXPECT_EQ(error_of(conv, kMatrix), "needs an input of 4 axes [N, C, H, W], not float32 [2, 3]");
  EXPECT_EQ(error_of([](Builder& b, Symbol x) { return nn::conv2d(b, x, "c", {.filters = 4}); }, kMatrix),
            "c: needs an input of 4 axes [N, C, H, W], not float32 [2, 3]");
}

TEST(NnErrors, name_sizes_below_1) {
  EXPECT_EQ(error_of([](Builder& b, Symbol x) { return nn::conv2d(b, x, "c", {}); }, kImage),
            "c: 'filters' is 0; must be at least 1");
  EXPECT_EQ(error_of([](Builder& b, Symbol x) { return nn::conv2d(b, x, "c", {.filters = 3, .groups = 0}); },
                     kImage),
            "c: 'groups' is 0; must be at least 1");
  EXPECT_EQ(error_of(
                [](Builder& b, Symbol x) {
                  return nn::conv2d_transpose(b, x, "c", {.filters = 3, .stride = {1, 0}});
                },
                kImage),
            "c: 'stride' is 0; must be at least 1");
  EXPECT_EQ(error_of([](Builder& b, Symbol x) { return nn::dense(b, x, "d", {}); }, kImage),
            "d: 'units' is 0; must be at least 1");
  EXPECT_EQ(error_of([](Builder& b, Symbol x) { return nn::embedding(b, x, "e", {.units = 1}); },
                     {DType::kInt32, {2}}),
            "e: 'entries' is 0; must be at least 1");
  EXPECT_EQ(error_of(
                [](Builder& b, Symbol x) {
                  return nn::max_pooling(b, x, {.window = {0, 2}});
                },
                kImage),
            "'window' is 0; must be at least 1");
}

/// A column alone is a table of one column.
TEST(NnFunctions, take_one_number_for_each_sample_as_a_column) {
  Graph graph;
  VariableTable table;
  Builder b(graph, table, {Phase::kInference, DType::kFloat32});
  const Symbol x = b.input("x", {DType::kFloat32, {5}});
  EXPECT_EQ(nn::dense(b, x, "d", {.units = 2}).shape(), (Shape{5, 2}));
}

TEST(NnErrors, list_the_numbers_that_divide_the_channels) {
  const TensorSpec image = {DType::kFloat32, {2, 12, 5, 4}};
  EXPECT_EQ(
      error_of([](Builder& b, Symbol x) { return nn::group_norm(b, x, "n"); }, image),
      "n: 'groups' is 32, which does not divide the 12 channels of the input float32 [2, 12, 5, 4]; must "
      "be one of 1, 2, 3, 4, 6, 12");
  EXPECT_EQ(error_of([](Builder& b, Symbol x) { return nn::group_norm(b, x, "n", {.groups = 0}); }, image),
            "n: 'groups' is 0; must be at least 1");
  EXPECT_EQ(
      error_of([](Builder& b, Symbol x) { return nn::group_norm(b, x, "n", {.groups = 3}); }, kMatrix),
      "n: 'groups' is 3, so each group of the input float32 [2, 3] has one value, and the output would not "
      "depend on it; use fewer groups");
  EXPECT_EQ(
      error_of([](Builder& b, Symbol x) { return nn::maxout(b, x, 2); }, kMatrix),
      "'pieces' is 2, which does not divide the 3 channels of the input float32 [2, 3]; must be one of 1, "
      "3");
  EXPECT_EQ(error_of([](Builder& b, Symbol x) { return nn::maxout(b, x, 2); }, {DType::kFloat32, {2, 1}}),
            "'pieces' is 2, which does not divide the 1 channels of the input float32 [2, 1]; must be 1");
}

TEST(NnErrors, of_parts_of_batches) {
  const auto of_parts = [](int64_t samples) {
    return [samples](Builder& b, Symbol x) {
      return nn::batch_norm(b, x, "n", {.virtual_batch_size = samples});
    };
  };
  EXPECT_EQ(
      error_of(of_parts(3), kImage),
      "n: 'virtual_batch_size' is 3, which does not divide the batch of 2 samples; change one of them (and "
      "use BatchData without a remainder)");
  EXPECT_EQ(error_of(of_parts(0), kImage), "n: 'virtual_batch_size' is 0; must be at least 1");
  EXPECT_THAT(error_of(of_parts(1), kMatrix),
              testing::StartsWith("n: a batch of shape [1, 3] has one value"));
  EXPECT_EQ(error_of(
                [](Builder& b, Symbol x) {
                  return nn::batch_norm(b, x, "n", {.sync_statistics = true, .virtual_batch_size = 1});
                },
                kImage),
            "n: 'virtual_batch_size' divides a batch and 'sync_statistics' joins batches; set one");
}

TEST(NnErrors, of_limits_of_a_correction) {
  EXPECT_EQ(error_of([](Builder& b, Symbol x) { return nn::batch_renorm(b, x, "n", {.rmax = 0.5}); }, kImage),
            "n: 'rmax' is 0.5; must be at least 1");
  EXPECT_EQ(error_of([](Builder& b, Symbol x) { return nn::batch_renorm(b, x, "n", {.dmax = -1}); }, kImage),
            "n: 'dmax' is -1; must be at least 0");
}

TEST(NnErrors, of_numbers_of_bits) {
  for (const int64_t bits : {0, 17}) {
    EXPECT_EQ(error_of([&](Builder& b, Symbol x) { return nn::quantize_activation(b, x, bits); }, kImage),
              "'bits' is " + std::to_string(bits) + "; must be from 1 to 16");
  }
}

TEST(NnErrors, of_layers_of_images_name_what_is_allowed) {
  EXPECT_EQ(
      error_of([](Builder& b, Symbol x) { return nn::squeeze_excite(b, x, "s"); }, kImage),
      "s: 'ratio' is 16, which does not divide the 3 channels of the input float32 [2, 3, 5, 4]; must be "
      "one of 1, 3");
  EXPECT_EQ(error_of([](Builder& b, Symbol x) { return nn::squeeze_excite(b, x, "s"); }, kMatrix),
            "s: needs an input of 4 axes [N, C, H, W], not float32 [2, 3]");
  EXPECT_EQ(
      error_of([](Builder& b, Symbol x) { return nn::channel_shuffle(b, x, 2); }, kImage),
      "'groups' is 2, which does not divide the 3 channels of the input float32 [2, 3, 5, 4]; must be one "
      "of 1, 3");
  EXPECT_EQ(
      error_of([](Builder& b, Symbol x) { return nn::blur_pooling(b, x); }, {DType::kFloat32, {2, 3, 5, 1}}),
      "needs images of at least 2x2 pixels, not float32 [2, 3, 5, 1]");
  EXPECT_EQ(error_of([](Builder& b, Symbol x) { return nn::spatial_dropout(b, x, "d", 0.5); },
                     {DType::kFloat32, {2}}),
            "d: needs an input [N, C, ...], not float32 [2]");
  EXPECT_EQ(error_of([](Builder& b, Symbol x) { return nn::drop_path(b, x, "d", 0.5); }, kNumber),
            "d: needs an input [N, ...], not float32 []");
}

TEST(NnErrors, say_which_inputs_and_options_do_not_fit) {
  EXPECT_EQ(error_of([](Builder& b, Symbol x) { return nn::conv2d(b, x, "c", {.filters = 4, .groups = 2}); },
                     kImage),
            "c: groups = 2 does not divide the 3 input channels and the 4 filters");
  EXPECT_EQ(error_of([](Builder& b, Symbol x) { return nn::dense(b, x, "d", {.units = 2}); }, kNumber),
            "d: needs an input [N, ...], not float32 []");
  EXPECT_EQ(error_of([](Builder& b, Symbol x) { return nn::table_input(b, x, "t", {}); }, kImage),
            "t: needs an input [N, columns], not float32 [2, 3, 5, 4]");
  EXPECT_EQ(
      error_of([](Builder& b, Symbol x) { return nn::embedding(b, x, "e", {.entries = 2, .units = 2}); },
               kMatrix),
      "e: needs numbers of an integer type, not float32 [2, 3]");
  EXPECT_EQ(error_of([](Builder& b, Symbol x) { return nn::instance_norm(b, x, "n"); },
                     {DType::kUInt8, {2, 3, 5, 4}}),
            "n: needs a float input, not uint8 [2, 3, 5, 4]; put a Normalize before it");
  EXPECT_EQ(
      error_of([](Builder& b, Symbol x) { return nn::batch_norm(b, x, "n", {.training = false}); }, kNumber),
      "n: batch normalization needs [N, C, H, W] or [N, C], not float32 []");
  EXPECT_EQ(error_of([](Builder& b, Symbol x) { return nn::cross_entropy(b, x, x); }, kMatrix),
            "needs labels of an integer type, not float32 [2, 3]");
  for (const double rate : {-0.1, 1.0, std::numeric_limits<double>::quiet_NaN()}) {
    EXPECT_THAT(error_of([&](Builder& b, Symbol x) { return nn::dropout(b, x, "d", rate); }, kMatrix),
                testing::StartsWith("d: 'rate' of dropout is "));
  }
}

}  // namespace
}  // namespace tpack
