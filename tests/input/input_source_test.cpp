#include "input/input_source.h"

#include <gmock/gmock-matchers.h>

#include "support/positions.h"

namespace tpack {
namespace {

const Spec kBatches = {{"image", {DType::kUInt8, {4, 28, 28, 1}}},
                       {"label", {DType::kInt32, {4}}},
                       {"points", {DType::kFloat32, {4, Shape::kUnknown, 2}}}};
const Position kHere = in_train_yaml(12, 5);

std::string error_of(const std::vector<TowerInput>& inputs, const std::string& flow = "data.train") {
  try {
    bind_inputs(inputs, kBatches, flow);
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "";
}

TEST(BindInputs, finds_components_by_name) {
  EXPECT_THAT(bind_inputs({{"y", "label", {DType::kInt32, {}}}, {"x", "image", {DType::kUInt8, {28, 28, 1}}}},
                          kBatches, "data.train"),
              testing::ElementsAre(1, 0));
}

TEST(BindInputs, unknown_sizes_fit_any) {
  EXPECT_EQ(error_of({{"points", "points", {DType::kFloat32, {7, 2}}}}), "");
}

TEST(BindInputs, data_without_a_batch_axis_have_their_own_shape) {
  EXPECT_EQ(error_of({{"label", "label", {DType::kInt32, {4}}, false}}), "");
  EXPECT_NE(error_of({{"label", "label", {DType::kInt32, {4}}, true}}), "");
}

TEST(BindInputs, says_all_that_does_not_fit) {
  EXPECT_EQ(
      error_of({{"image", "imag", {DType::kUInt8, {28, 28, 1}}, true, "", kHere},
                {"label", "label", {DType::kFloat32, {}}, true, "", in_train_yaml(13, 5)},
                {"x", "image", {DType::kUInt8, {32, 32, 1}}, true, "", in_train_yaml(14, 5)}}),
      "train.yaml:12:5: input 'image' is bound to component 'imag', which data.train does not have; did "
      "you mean 'image'? (it has image uint8 [4, 28, 28, 1], label int32 [4], points float32 [4, ?, 2]; "
      "bind others with `feed`)\n"
      "train.yaml:13:5: input 'label' is float32 [?], but data.train produces int32 [4]; write dtype: int32, "
      "or "
      "change the flow\n"
      "train.yaml:14:5: input 'x' is uint8 [?, 32, 32, 1], but data.train produces uint8 [4, 28, 28, 1]; "
      "write shape: [28, 28, 1], or change the flow");
}

/// A map that data.train has and the other flow lacks is a usual cause.
TEST(BindInputs, says_that_another_flow_has_to_be_as_that_of_training) {
  EXPECT_EQ(
      error_of({{"x", "image", {DType::kUInt8, {32, 32, 1}}, true, "", in_train_yaml(14, 5)}},
               "flow 'validation'"),
      "train.yaml:14:5: input 'x' is uint8 [?, 32, 32, 1], but flow 'validation' produces uint8 [4, 28, "
      "28, 1]; give it the maps of data.train, or write shape: [28, 28, 1], or change the flow");
}

TEST(BindInputs, says_how_to_make_labels_of_other_numbers) {
  EXPECT_EQ(
      error_of({{"label", "points", {DType::kInt32, {7, 2}}, true, "", kHere}}),
      "train.yaml:12:5: input 'label' is int32 [?, 7, 2], but data.train produces float32 [4, ?, 2]; change "
      "the flow with MapData: {component: points, map: {Cast: int32}}, or write dtype: float32");
}

TEST(BindInputs, says_how_class_numbers_and_soft_labels_fit) {
  const auto error = [](const TowerInput& input, const ComponentSpec& component) {
    try {
      bind_inputs({input}, {component}, "data.train");
    } catch (const ConfigError& rejected) {
      return std::string(rejected.what());
    }
    return std::string();
  };
  ComponentSpec soft{"y", {DType::kFloat32, {4, 10}}};
  soft.classes = {"a", "b"};
  EXPECT_TRUE(error({"y", "y", {DType::kFloat32, {10}}}, {"y", {DType::kInt32, {4}}})
                  .ends_with("; change the flow with MapData: {component: y, map: {OneHot: 10}}"));
  EXPECT_TRUE(error({"y", "y", {DType::kInt32, {}}}, soft)
                  .ends_with("; for soft labels, write dtype: float32, shape: [10]"));
}

TEST(BindInputs, names_the_color_where_only_channels_differ) {
  const auto error_with = [](const Shape& wanted, const Shape& given) -> std::string {
    try {
      bind_inputs({{"image", "image", {DType::kUInt8, wanted}}}, {{"image", {DType::kUInt8, given}, true}},
                  "data.train");
    } catch (const ConfigError& rejected) {
      return rejected.what();
    }
    return "";
  };
  EXPECT_TRUE(
      error_with({8, 8, 1}, {4, 8, 8, 3})
          .ends_with("; for image files, set color: gray in their source, or write shape: [8, 8, 3]"));
  EXPECT_TRUE(
      error_with({8, 8, 4}, {4, 8, 8, 3})
          .ends_with("; for image files, set color: rgba in their source, or write shape: [8, 8, 3]"));
  EXPECT_TRUE(error_with({9, 8, 1}, {4, 8, 8, 3}).ends_with("; write shape: [8, 8, 3], or change the flow"));
  EXPECT_TRUE(error_with({8, 8, 3}, {4, 8, 8, 1}).ends_with("; write shape: [8, 8, 1], or change the flow"));
}

TEST(BindInputs, casts_labels_of_other_integers) {
  const Spec batches = {{"y", {DType::kUInt8, {4}}},
                        {"z", {DType::kInt64, {4, 1}}},
                        {"image", {DType::kUInt8, {4, 8, 8, 1}}, true}};
  const auto error = [&](const TowerInput& input) -> std::string {
    try {
      bind_inputs({input}, batches, "data.train");
    } catch (const ConfigError& rejected) {
      return rejected.what();
    }
    return "";
  };
  EXPECT_TRUE(error({"y", "y", {DType::kInt32, {}}})
                  .ends_with("uint8 [4]; change the flow with MapData: {component: y, map: {Cast: int32}}"));
  EXPECT_TRUE(error({"z", "z", {DType::kInt32, {}}})
                  .ends_with("int64 [4, 1]; change the flow with MapData: {component: z, map: {Cast: "
                             "int32}}, and write shape: [1]"));
  EXPECT_TRUE(error({"image", "image", {DType::kInt32, {8, 8, 1}}})
                  .ends_with("write dtype: uint8, or change the flow"))
      << "images stay as they are";
}

TEST(BindInputs, rejects_the_layout_that_the_images_do_not_have) {
  const Spec images = {{"image", {DType::kUInt8, {4, 3, 3, 3}}, true}};
  const auto error_with = [&](const std::string& layout, const Spec& batches) -> std::string {
    try {
      bind_inputs({{"x", "image", {DType::kUInt8, {3, 3, 3}}, true, layout, kHere}}, batches, "data.train");
    } catch (const ConfigError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(
      error_with("CHW", images),
      "train.yaml:12:5: input 'x' has layout CHW, but the images of data.train are HWC; write layout: HWC");
  EXPECT_EQ(error_with("HWC", images), "");
  EXPECT_EQ(error_with("CHW", {{"image", {DType::kUInt8, {4, 3, 3, 3}}, false}}), "")
      << "nobody says what it is";
}

}  // namespace
}  // namespace tpack
