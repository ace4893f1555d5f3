#include "weights/net_files.h"

namespace tpack {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Pair;
using testing::ThrowsMessage;

class OnnxFiles : public NetFiles {
 protected:
  static void SetUpTestSuite() { make_files("python/write_onnx_files.py"); }
};

TEST_F(OnnxFiles, have_the_values_and_the_order_of_uses) {
  for (const char* const name : {"net.onnx", "constants.onnx", "lists.onnx"}) {
    const WeightFile file = open(name);
    EXPECT_EQ(compare(file, 0), 13U) << name;
    EXPECT_TRUE(file.is_in_order);
    EXPECT_EQ(file.weights[0].name, "conv1.weight") << "the file has it last";
    EXPECT_EQ(file.weights[3].name, "bn1.running_mean");
    EXPECT_EQ(file.weights[12].name, "fc2.bias");
    EXPECT_THAT(file.others, Contains(Pair("producer", "test 1")));
  }
}

// The two mistakes that users of converters report most: weights of Gemm and MatMul in the other order of
// axes, and weights in a second file.
TEST_F(OnnxFiles, weights_of_products_are_as_pytorch_has_them) {
  EXPECT_EQ(compare(open("products.onnx"), 0), 13U) << "MatMul, and Gemm without transB";
  EXPECT_LT(error_with("products.onnx"), 1e-5);
  EXPECT_EQ(open("tied.onnx").weights[0].read().at(1), 1) << "also a table of vectors: as it is";
}
TEST_F(OnnxFiles, branches_have_weights_of_their_own) {
  const WeightFile file = open("branches.onnx");
  ASSERT_EQ(file.weights.size(), 14U);
  const FileWeight& first =
      *std::ranges::find(file.weights, "choice.then_branch.conv1.weight", &FileWeight::name);
  const WeightFile net = open("net.onnx");
  EXPECT_TRUE(bit_equal(first.read(), net.find("conv1.weight")->read()));
  EXPECT_EQ(file.find("choice.else_branch.conv1.weight")->read().at(9), 7);
  EXPECT_LT(error_with("branches.onnx", {.map = "order"}), 1e-5) << "the order of uses in the branch";
}
TEST_F(OnnxFiles, data_in_another_file_are_an_error_with_the_fix) {
  EXPECT_THAT(error_of("external.onnx"),
              testing::AllOf(HasSubstr("has its numbers in the file 'external.data'"),
                             HasSubstr("onnx.save(onnx.load(\"model.onnx\"), \"one.onnx\")")));
}

TEST_F(OnnxFiles, a_model_with_their_weights_has_their_outputs) {
  for (const char* const name : {"net.onnx", "lists.onnx"}) EXPECT_LT(error_with(name), 1e-5) << name;
}

TEST_F(OnnxFiles, names_that_tell_nothing_have_an_order) {
  EXPECT_NE(open("folded.onnx").find("onnx::T_12"), nullptr) << "the names stay";
  EXPECT_THAT([&] { error_with("folded.onnx"); },
              ThrowsMessage<ConfigError>(HasSubstr("13 of 13 variables would fit (`map: order`)")));
  EXPECT_LT(error_with("folded.onnx", {.map = "order"}), 1e-5);
  EXPECT_LT(error_with("net.onnx", {.map = "order"}), 1e-5);
}

TEST_F(OnnxFiles, all_types_are_read) {
  const WeightFile file = open("types.onnx");
  EXPECT_EQ(file.weights.size(), 26U);
  for (const FileWeight& weight : file.weights) {
    const Tensor value = weight.read();
    EXPECT_TRUE(weight.name.ends_with("_" + weight.stored)) << weight.name;
    ASSERT_EQ(value.shape(), (Shape{2, 3})) << weight.name;
    const bool is_bool = weight.stored == "bool";
    EXPECT_EQ(value.at(4), is_bool ? 1 : 5) << weight.name;
    EXPECT_EQ(value.at(1), 0) << weight.name;
  }
  EXPECT_THAT(file.others, Contains(Pair("complex", "a tensor of type 14")));
}

TEST_F(OnnxFiles, a_damaged_file_is_an_error_or_has_the_same_shapes) {
  EXPECT_GE(errors_of_damaged("net.onnx", 200), 90U) << "cut between two fields, it is whole, but smaller";
  EXPECT_GE(errors_of_damaged("lists.onnx", 200), 90U);
  write_content(*folder_ / "text.onnx", "hello, not a model\n");
  EXPECT_THAT(error_of("text.onnx"), HasSubstr("is damaged, or not a model of ONNX"));
}

}  // namespace
}  // namespace tpack
