#include "weights/loadable.h"

#include <numeric>

#include <gmock/gmock-more-matchers.h>

#include "support/temporary_folder.h"
#include "weights/kernel_layout.h"
#include "weights/write_weights.h"

namespace tpack {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::ThrowsMessage;

/// 0, 1, 2, ...
Tensor counted(const Shape& shape) {
  const Tensor tensor(DType::kFloat32, shape);
  std::iota(tensor.data<float>(), tensor.data<float>() + tensor.elements(), 0.0F);
  return tensor;
}

FileWeight weight(const std::string& name, const Shape& shape) {
  return {name, "float32", {DType::kFloat32, shape}, [shape] { return counted(shape); }};
}

VariableSpec variable(const std::string& name, const Shape& shape, KernelKind kernel = KernelKind::kNone,
                      const Shape& flattened = {}) {
  VariableSpec spec{name, {DType::kFloat32, shape}, VariableScope::kModel, true, nullptr};
  spec.kernel = kernel;
  spec.flattened = flattened;
  return spec;
}

std::vector<float> values(const Tensor& tensor) {
  return {tensor.data<float>(), tensor.data<float>() + tensor.elements()};
}

std::vector<float> as(WeightStyle style, const Shape& there, const VariableSpec& here) {
  const KernelLayout layout = kernel_layout(style, {DType::kFloat32, there}, here);
  EXPECT_EQ(layout.spec.shape, here.spec.shape);
  return values(in_layout(counted(there), layout));
}

TEST(KernelLayout, of_torch) {
  EXPECT_THAT(as(WeightStyle::kTorch, {2, 3}, variable("W", {3, 2}, KernelKind::kDense)),
              ElementsAre(0, 3, 1, 4, 2, 5));
  EXPECT_THAT(as(WeightStyle::kTorch, {2, 3, 1, 1}, variable("W", {3, 2}, KernelKind::kDense)),
              ElementsAre(0, 3, 1, 4, 2, 5))
      << "a convolution of one pixel";
  EXPECT_THAT(as(WeightStyle::kTorch, {2, 2}, variable("W", {2, 2, 1, 1}, KernelKind::kConvolution)),
              ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(as(WeightStyle::kTorch, {2, 2}, variable("W", {2, 2})), ElementsAre(0, 1, 2, 3))
      << "an embedding";
  EXPECT_THAT(
      as(WeightStyle::kTorch, {1, 2, 1, 2}, variable("W", {1, 2, 1, 2}, KernelKind::kTransposedConvolution)),
      ElementsAre(0, 1, 2, 3));
}

TEST(KernelLayout, of_keras) {
  EXPECT_THAT(as(WeightStyle::kKeras, {2, 3}, variable("W", {2, 3}, KernelKind::kDense)),
              ElementsAre(0, 1, 2, 3, 4, 5));
  // [h, w, in, out] = [1, 2, 1, 3] becomes [out, in, h, w]
  EXPECT_THAT(as(WeightStyle::kKeras, {1, 2, 1, 3}, variable("W", {3, 1, 1, 2}, KernelKind::kConvolution)),
              ElementsAre(0, 3, 1, 4, 2, 5));
  // Depthwise [h, w, channels, factor] = [1, 2, 3, 1] becomes [channels * factor, 1, h, w].
  EXPECT_THAT(as(WeightStyle::kKeras, {1, 2, 3, 1}, variable("W", {3, 1, 1, 2}, KernelKind::kConvolution)),
              ElementsAre(0, 3, 1, 4, 2, 5));
  // Rows of a flattened image [channels, h, w] = [2, 1, 2]: there (w, channel), here (channel, w).
  EXPECT_THAT(as(WeightStyle::kKeras, {4, 1}, variable("W", {4, 1}, KernelKind::kDense, {2, 1, 2})),
              ElementsAre(0, 2, 1, 3));
}

TEST(KernelLayout, keeps_a_shape_that_does_not_fit) {
  const TensorSpec there{DType::kFloat32, {2, 3}};
  const VariableSpec here = variable("W", {4, 2}, KernelKind::kDense);
  EXPECT_EQ(kernel_layout(WeightStyle::kTorch, there, here).spec.shape, (Shape{3, 2}));
  EXPECT_EQ(kernel_layout(WeightStyle::kKeras, there, here).spec.shape, (Shape{2, 3}));
}

WeightFile file_of(const std::vector<FileWeight>& weights, WeightStyle style = WeightStyle::kTorch) {
  return {
      .path = "x.pth", .format = "PyTorch (zip)", .style = style, .is_in_order = true, .weights = weights};
}

std::vector<std::string> names_of(const WeightFile& file, const WeightMap& map = {}) {
  std::vector<std::string> names;
  for (const LoadableWeight& one : loadable_weights(file, map))
    names.insert(names.end(), one.names.begin(), one.names.end());
  return names;
}

TEST(LoadableWeights, have_names_of_variables) {
  EXPECT_THAT(
      names_of(
          file_of({weight("a.0.conv.weight", {2, 2, 1, 1}), weight("a.0.conv.bias", {2}),
                   weight("bn.running_mean", {2}), weight("bn.running_var", {2}),
                   weight("bn.num_batches_tracked", {}), weight("bn.weight", {2}), weight("token", {2})})),
      ElementsAre("a/0/conv/W", "a/0/conv/gamma", "a/0/conv/alpha", "a/0/conv/b", "a/0/conv/beta",
                  "bn/mean/EMA", "bn/variance/EMA", "bn/gamma", "bn/W", "bn/alpha", "token", "token/value"));
  EXPECT_THAT(
      names_of(file_of({weight("c/kernel:0", {1, 1, 2, 2}), weight("c/bias:0", {2}),
                        weight("bn/moving_mean", {2}), weight("bn/mean/EMA", {2}), weight("c/W", {1})},
                       WeightStyle::kKeras)),
      ElementsAre("c/W", "c/b", "c/pointwise/b", "bn/mean/EMA", "bn/mean/EMA", "bn/mean/EMA/value", "c/W",
                  "c/W/value"));
}

TEST(LoadableWeights, are_found_in_parts_and_wrappers) {
  const auto nested =
      file_of({weight("optimizer.state.0.exp_avg", {2}), weight("state_dict.module.fc.weight", {2, 2}),
               weight("ema.fc.weight", {2, 2})});
  EXPECT_EQ(names_of(nested)[0], "fc/W");
  EXPECT_EQ(loadable_weights(nested, {}).size(), 1U);
  EXPECT_EQ(names_of(nested, {.part = "ema"})[0], "fc/W");
  EXPECT_EQ(loadable_weights(nested, {.part = "ema"})[0].from, "ema.fc.weight");
  EXPECT_EQ(names_of(file_of({weight("model.fc.weight", {2, 2}), weight("model.fc.bias", {2})}))[0], "fc/W");
  EXPECT_THAT(names_of(nested, {.part = "weights"}), IsEmpty());
}

TEST(LoadableWeights, follow_a_map) {
  WeightMap map;
  map.layers = {{"layer(\\d)/(\\d)", "group$1/block$2"}, {"fc", "head"}};
  EXPECT_EQ(names_of(file_of({weight("layer1.0.weight", {1, 1, 1, 1})}), map)[0], "group1/block0/W");
  EXPECT_EQ(names_of(file_of({weight("fc.bias", {1})}), map)[0], "head/b");
}

class LoadIntoStore : public testing::Test {
 protected:
  LoadIntoStore() {
    table_.declare(variable("conv/W", {2, 2, 1, 1}, KernelKind::kConvolution));
    table_.declare(variable("bn/gamma", {2}));
    table_.declare(variable("bn/beta", {2}));
    table_.declare(variable("head/W", {2, 3}, KernelKind::kDense));
    table_.declare(variable("head/b", {3}));
    store_ = std::make_unique<VariableStore>(table_);
  }
  VariableTable table_;
  std::unique_ptr<VariableStore> store_;
};

const std::vector<FileWeight> kNet = {weight("conv.weight", {2, 2, 1, 1}), weight("bn.weight", {2}),
                                      weight("bn.bias", {2}), weight("head.weight", {3, 2}),
                                      weight("head.bias", {3})};

TEST_F(LoadIntoStore, takes_the_first_name_that_is_a_variable) {
  const NamedWeights named = named_weights(file_of(kNet), {}, {}, table_);
  EXPECT_EQ(named.map, "names");
  EXPECT_THAT(load_weights(*store_, named.weights).loaded,
              ElementsAre("bn/beta", "bn/gamma", "conv/W", "head/W", "head/b"));
  EXPECT_THAT(values(store_->value("head/W")), ElementsAre(0, 2, 4, 1, 3, 5));
}

TEST(LoadableWeights, of_a_separable_convolution_are_those_of_two_layers) {
  VariableTable table;
  table.declare(variable("s/depthwise/W", {2, 1, 3, 3}, KernelKind::kConvolution));
  table.declare(variable("s/pointwise/W", {4, 2, 1, 1}, KernelKind::kConvolution));
  table.declare(variable("s/pointwise/b", {4}));
  const WeightFile file = file_of({weight("s/depthwise_kernel", {3, 3, 2, 1}),
                                   weight("s/pointwise_kernel", {1, 1, 2, 4}), weight("s/bias", {4})},
                                  WeightStyle::kKeras);
  for (const char* const map : {"names", "order"}) {
    VariableStore store(table);
    const LoadReport report = load_weights(store, named_weights(file, {.map = map}, {}, table).weights);
    EXPECT_EQ(report.loaded.size(), 3U) << map << report.str("x");
    EXPECT_EQ(store.value("s/pointwise/W").at(1), 4) << "of the second input, after four filters";
  }
}

TEST_F(LoadIntoStore, in_order_tells_a_bias_from_a_beta) {
  std::vector<FileWeight> renamed = kNet;
  for (FileWeight& one : renamed) one.name = "x" + one.name;
  const LoadReport report =
      load_weights(*store_, named_weights(file_of(renamed), {.map = "order"}, {}, table_).weights);
  EXPECT_EQ(report.loaded.size(), 5U) << report.str("x");
  EXPECT_THAT(advice_on_names(file_of(renamed), "", {}, table_),
              HasSubstr("by their order and shape, 5 of 5 variables would fit (`map: order`)"));
  WeightFile sorted = file_of(renamed);
  sorted.is_in_order = false;
  EXPECT_THAT([&] { named_weights(sorted, {.map = "order"}, {}, table_); },
              ThrowsMessage<DataError>(HasSubstr("does not keep the order of its layers")));
}

TEST_F(LoadIntoStore, says_both_names_of_what_does_not_fit) {
  std::vector<FileWeight> other = kNet;
  other[3] = weight("head.weight", {5, 2});
  const LoadReport report = load_weights(*store_, loadable_weights(file_of(other), {}));
  EXPECT_THAT(report.mismatched,
              ElementsAre("head/W: float32 [2, 5] in the file, float32 [2, 3] in the model (head.weight)"));
  other[3] = weight("tail.weight", {3, 2});
  EXPECT_THAT(load_weights(*store_, loadable_weights(file_of(other), {})).extra,
              ElementsAre("tail/W (tail.weight)"));
}

TEST_F(LoadIntoStore, two_values_for_one_variable_are_an_error) {
  std::vector<FileWeight> twice = kNet;
  twice.push_back(weight("neck.weight", {3, 2}));
  EXPECT_THAT(
      [&] {
        load_weights(*store_, loadable_weights(file_of(twice), {}), {.rename = {{"neck", "head"}}});
      },
      ThrowsMessage<ConfigError>(
          HasSubstr("'head.weight' and 'neck.weight' of the file are both for the variable 'head/W'")));
}

TEST_F(LoadIntoStore, in_order_a_layer_for_other_classes_has_another_shape) {
  std::vector<FileWeight> renamed = kNet;
  for (FileWeight& one : renamed) one.name = "x" + one.name;
  renamed[3] = weight("xhead.weight", {5, 2});
  renamed[4] = weight("xhead.bias", {5});
  const LoadReport report =
      load_weights(*store_, named_weights(file_of(renamed), {.map = "order"}, {}, table_).weights);
  EXPECT_EQ(report.loaded.size(), 3U);
  EXPECT_EQ(report.mismatched.size(), 2U) << report.str("x");
  EXPECT_THAT(report.missing, IsEmpty());
}

TEST(LoadableWeights, a_slope_is_the_only_vector_of_its_layer) {
  VariableTable table;
  table.declare(variable("bn/gamma", {1}));
  table.declare(variable("bn/beta", {1}));
  table.declare(variable("relu/alpha", {}));
  const WeightFile file = file_of({weight("1.weight", {1}), weight("1.bias", {1}), weight("2.weight", {1})});
  VariableStore store(table);
  EXPECT_EQ(load_weights(store, named_weights(file, {.map = "order"}, {}, table).weights).loaded.size(), 3U);
}

TEST_F(LoadIntoStore, a_file_of_a_map_has_no_version) {
  const TemporaryFolder folder;
  write_content(folder / "my-map.yaml", "source: ours\nlayers: {\"backbone/(.*)\": $1}\n");
  std::vector<FileWeight> below = kNet;
  for (FileWeight& one : below) one.name = "backbone." + one.name;
  const NamedWeights named = named_weights(file_of(below), {.map = folder / "my-map.yaml"}, {}, table_);
  EXPECT_EQ(load_weights(*store_, named.weights).loaded.size(), 5U);
  EXPECT_THAT([&] { weight_map_called(folder / "other.yaml"); },
              ThrowsMessage<ConfigError>(HasSubstr("other.yaml': no such file")));
}

/// A file of weights on the disk.
std::string written(const TemporaryFolder& folder, const std::vector<FileWeight>& weights) {
  write_weights(file_of(weights), folder / "x.safetensors");
  return folder / "x.safetensors";
}

TEST_F(LoadIntoStore, a_file_with_few_of_the_numbers_is_doubted) {
  const TemporaryFolder folder;
  const std::string path = written(folder, {kNet[1], kNet[2]});
  const WeightsReport report = load_weight_file(path, {}, {}, "", *store_);
  EXPECT_THAT(report.weights.idle, ElementsAre(HasSubstr("has 4 of the 17 numbers of the model")));
  EXPECT_THAT(load_weight_file(path, {}, {.include = {"bn"}}, "", *store_).weights.idle, IsEmpty());
}

TEST_F(LoadIntoStore, a_part_that_is_not_there_is_an_error) {
  const TemporaryFolder folder;
  const std::string path = written(folder, kNet);
  EXPECT_THAT([&] { load_weight_file(path, {.part = "haed"}, {}, "", *store_); },
              ThrowsMessage<ConfigError>(
                  HasSubstr("no part 'haed' with tensors in " + path + "; did you mean 'head'?")));
}

TEST_F(LoadIntoStore, an_unknown_map_is_an_error) {
  EXPECT_THAT([&] { named_weights(file_of(kNet), {.map = "odrer"}, {}, table_); },
              ThrowsMessage<ConfigError>(HasSubstr("no map 'odrer'; did you mean 'order'?")));
}

}  // namespace
}  // namespace tpack
