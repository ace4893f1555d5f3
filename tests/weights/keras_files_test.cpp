#include "weights/format/keras_names.h"
#include "weights/net_files.h"
#include "weights/write_weights.h"

namespace tpack {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;
using testing::ThrowsMessage;

class KerasFiles : public NetFiles {
 protected:
  static void SetUpTestSuite() { make_files("python/write_keras_files.py"); }
};

std::vector<std::string> names_in(const WeightFile& file) {
  std::vector<std::string> names;
  for (const FileWeight& weight : file.weights) names.push_back(weight.name);
  return names;
}

TEST_F(KerasFiles, with_names_of_layers_have_their_order) {
  for (const char* const name : {"legacy.h5", "old.h5", "around.h5", "gzip.h5", "chunks.h5", "split.h5"}) {
    const WeightFile file = open(name);
    EXPECT_EQ(compare(file, 0), 13U) << name;
    EXPECT_EQ(file.format, "Keras (.h5)");
    EXPECT_TRUE(file.is_in_order);
    EXPECT_THAT(names_in(file), ElementsAre("conv1/kernel", "bn1/gamma", "bn1/beta", "bn1/moving_mean",
                                            "bn1/moving_variance", "dw/kernel", "dw/bias", "up/kernel",
                                            "up/bias", "fc1/kernel", "fc1/bias", "fc2/kernel", "fc2/bias"))
        << name;
  }
  EXPECT_THAT(open("legacy.h5").others, ElementsAre(Pair("optimizer_weights", "1 arrays")));
  EXPECT_EQ(names_in(open("tf2.h5"))[5], "dw/depthwise_kernel");
}

TEST_F(KerasFiles, of_keras_3_have_names_of_variables) {
  const WeightFile numbered = open("numbered.weights.h5");
  EXPECT_EQ(compare(numbered, 0), 13U);
  EXPECT_EQ(numbered.format, "Keras 3 (.weights.h5)");
  EXPECT_FALSE(numbered.is_in_order) << "its groups are sorted by name";
  for (const char* const name : {"net.keras", "no-names.keras", "deflated.keras"}) {
    const WeightFile file = open(name);
    EXPECT_EQ(compare(file, 0), 13U) << name;
    EXPECT_EQ(file.format, "Keras (.keras)");
    EXPECT_TRUE(file.is_in_order);
    EXPECT_EQ(names_in(file), names_in(open("legacy.h5"))) << name;
  }
}

TEST_F(KerasFiles, two_that_are_open_stay_apart) {
  const WeightFile one = open("plain.h5");
  const WeightFile other = open("new_headers.h5");
  EXPECT_EQ(one.find("a/b")->read().at(5), 5);
  EXPECT_EQ(other.find("a/kernel")->read().at(76), 76);
}

TEST_F(KerasFiles, nested_models_are_paths) {
  const WeightFile file = open("nested.keras");
  EXPECT_EQ(compare(file, 0), 6U);
  EXPECT_THAT(names_in(file), ElementsAre("body/conv1/kernel", "body/bn1/gamma", "body/bn1/moving_mean",
                                          "body/bn1/moving_variance", "fc2/kernel", "fc2/bias"));
}

TEST_F(KerasFiles, a_model_with_their_weights_has_their_outputs) {
  for (const char* const name :
       {"legacy.h5", "tf2.h5", "old.h5", "gzip.h5", "numbered.weights.h5", "net.keras"})
    EXPECT_LT(error_with(name), 1e-5) << name;
  EXPECT_LT(error_with("float16.h5"), 1e-2);
  EXPECT_EQ(open("float16.h5").weights[0].stored, "float16");
}

// The two mistakes that users of Keras report most: names that Keras counts over all models of a program, so
// that loading by name silently loads nothing, and weights of another shape.
TEST_F(KerasFiles, counted_names_are_an_error_that_advises_the_order) {
  EXPECT_THAT([&] { error_with("counted.h5"); },
              ThrowsMessage<ConfigError>(
                  HasSubstr("by their order and shape, 13 of 13 variables would fit (`map: order`)")));
  EXPECT_LT(error_with("counted.h5", {.map = "order"}), 1e-5);
  EXPECT_LT(error_with("net.keras", {.map = "order"}), 1e-5);
}
TEST_F(KerasFiles, another_shape_is_an_error) {
  EXPECT_THAT(
      [&] {
        error_with("nested.keras", {}, {.rename = {{"body/conv1", "dw"}}});
      },
      ThrowsMessage<ConfigError>(testing::AllOf(HasSubstr("dw/W"), HasSubstr("[8, 1, 3, 3]"))));
}

TEST_F(KerasFiles, other_hdf5_files_have_their_arrays) {
  const WeightFile file = open("plain.h5");
  EXPECT_EQ(file.format, "HDF5");
  EXPECT_FALSE(file.is_in_order);
  EXPECT_THAT(names_in(file), ElementsAre("a/b", "flags"));
  EXPECT_EQ(file.find("a/b")->read().at(5), 5);
  EXPECT_EQ(file.find("flags")->read().dtype(), DType::kBool);
  EXPECT_THAT(file.others, Contains(Pair("text", "texts")));
  EXPECT_THAT(file.others, Contains(Pair("big_endian", "elements of another type")));
  EXPECT_EQ(compare(open("new_headers.h5"), 0), 1U) << "chunks at the edges, and headers since HDF5 1.8";
}

TEST_F(KerasFiles, what_is_elsewhere_or_too_large_is_refused) {
  EXPECT_THAT(error_of("bad/external_link.h5"), HasSubstr("'w': is a soft or external link"));
  EXPECT_THAT(error_of("bad/soft_link.h5"), HasSubstr("'w': is a soft or external link"));
  EXPECT_THAT(error_of("bad/virtual.h5"), HasSubstr("'w': has its numbers in other files"));
  EXPECT_THAT(error_of("bad/external_storage.h5"), HasSubstr("'w': has its numbers in other files"));
  EXPECT_THAT(error_of("bad/bomb.h5"), HasSubstr("'w': unpacks to more than 100 times its size"));
  EXPECT_THAT(error_of("bad/missing.h5"), HasSubstr("'w': unpacks to more than 100 times its size"));
  EXPECT_THAT(error_of("bad/filter.h5"), HasSubstr("'w': is compressed by filter 3; supported are gzip"));
  EXPECT_THAT(error_of("bad/no_weight.h5"), HasSubstr("names the weight 'a/kernel:0' of the layer 'a'"));
  EXPECT_THAT(error_of("bad/itself.h5"), HasSubstr("is nested deeper than 64 groups"));
}

TEST_F(KerasFiles, a_damaged_file_is_an_error_or_has_the_same_shapes) {
  for (const char* const name : {"legacy.h5", "tf2.h5", "gzip.h5", "new_headers.h5", "net.keras"})
    EXPECT_GE(errors_of_damaged(name, 200), 100U) << name << ": each file that is cut is an error";
}

TEST_F(KerasFiles, converted_files_have_the_same_tensors) {
  write_weights(open("gzip.h5"), *folder_ / "copy.safetensors");
  EXPECT_EQ(compare(open("copy.safetensors"), 0), 13U);
  const PythonResult read = run_python("python/read_safetensors.py", *folder_ / "copy.safetensors");
  if (!read.missing.empty()) GTEST_SKIP() << read.missing;
  EXPECT_EQ(read.exit_code, 0);
  EXPECT_EQ(read.output, "13 arrays are equal\n") << "the safetensors library reads what tpack writes";
}

TEST(KerasNames, of_classes) {
  EXPECT_EQ(keras_snake_case("Conv2D"), "conv2d");
  EXPECT_EQ(keras_snake_case("DepthwiseConv2D"), "depthwise_conv2d");
  EXPECT_EQ(keras_snake_case("Conv2DTranspose"), "conv2d_transpose");
  EXPECT_EQ(keras_snake_case("PReLU"), "p_re_lu");
  EXPECT_EQ(keras_snake_case("LSTMCell"), "lstm_cell");
  EXPECT_EQ(keras_snake_case("GlobalAveragePooling2D"), "global_average_pooling2d");
}

TEST(KerasNames, of_variables) {
  using Names = std::vector<std::string>;
  EXPECT_EQ(keras_variable_names("batch_normalization_3", {{4}, {4}, {4}, {4}}),
            (Names{"gamma", "beta", "moving_mean", "moving_variance"}));
  EXPECT_EQ(keras_variable_names("batch_normalization", {{4}, {4}, {4}}),
            (Names{"beta", "moving_mean", "moving_variance"}));
  EXPECT_EQ(keras_variable_names("separable_conv2d", {{3, 3, 2, 1}, {1, 1, 2, 4}}),
            (Names{"depthwise_kernel", "pointwise_kernel"}));
  EXPECT_EQ(keras_variable_names("embedding", {{9, 3}}), (Names{"embeddings"}));
  EXPECT_EQ(keras_variable_names("my_layer", {{4, 2}, {2}}), (Names{"kernel", "bias"}));
  EXPECT_EQ(keras_variable_names("my_norm", {{4}, {4}}), (Names{"gamma", "beta"}));
  EXPECT_EQ(keras_variable_names("my_layer", {{4, 2}, {2}, {2}}), (Names{"0", "1", "2"}));
}

TEST(KerasNames, of_weights) {
  EXPECT_EQ(keras_weight_name("conv1", "conv1/kernel:0"), "conv1/kernel");
  EXPECT_EQ(keras_weight_name("conv1", "conv1/conv1/kernel:0"), "conv1/kernel");
  EXPECT_EQ(keras_weight_name("conv1", "conv1_1/kernel:0"), "conv1/kernel");
  EXPECT_EQ(keras_weight_name("conv1", "conv1_W_1:0"), "conv1/kernel");
  EXPECT_EQ(keras_weight_name("bn", "bn_running_std:0"), "bn/moving_variance");
  EXPECT_EQ(keras_weight_name("emb", "sequential/emb/embeddings"), "emb/embeddings");
  EXPECT_EQ(keras_weight_name("sub", "inner/kernel:0"), "sub/inner/kernel");
  EXPECT_EQ(keras_weight_name("sub", "sub/inner/kernel"), "sub/inner/kernel");
}

}  // namespace
}  // namespace tpack
