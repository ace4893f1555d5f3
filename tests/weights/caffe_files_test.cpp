#include "weights/net_files.h"

namespace tpack {
namespace {

using testing::HasSubstr;

class CaffeFiles : public NetFiles {
 protected:
  static void SetUpTestSuite() { make_files("python/write_caffe_files.py"); }
};

TEST_F(CaffeFiles, have_the_values_under_names_of_pytorch) {
  for (const char* const name :
       {"net.caffemodel", "double.caffemodel", "unpacked.caffemodel", "transposed.caffemodel"}) {
    const WeightFile file = open(name);
    EXPECT_EQ(compare(file, 0), 13U) << name;
    EXPECT_TRUE(file.is_in_order);
    EXPECT_EQ(file.weights[0].name, "conv1.weight");
    EXPECT_EQ(file.weights[1].name, "bn1.running_mean");
    EXPECT_EQ(file.weights[3].name, "scale1.weight");
  }
  EXPECT_EQ(open("double.caffemodel").weights[0].stored, "float64");
}

TEST_F(CaffeFiles, before_2014_have_the_same) { EXPECT_EQ(compare(open("old.caffemodel"), 0), 9U); }

TEST_F(CaffeFiles, a_model_with_their_weights_has_their_outputs) {
  EXPECT_LT(error_with("net.caffemodel", {}, {.rename = {{"scale1", "bn1"}}}), 1e-5);
  EXPECT_LT(error_with("net.caffemodel", {.map = "order"}), 1e-5);
}

TEST_F(CaffeFiles, other_layers_have_numbered_arrays) {
  const WeightFile file = open("zero.caffemodel");
  EXPECT_EQ(file.find("bn.running_mean")->read().at(0), 0) << "a factor of 0 is a network without a step";
  EXPECT_EQ(file.find("relu.weight")->read().at(1), 0.25);
  EXPECT_EQ(file.find("other.blob0")->spec.shape, (Shape{2, 3}));
}

TEST_F(CaffeFiles, sizes_that_contradict_the_data_are_errors) {
  EXPECT_THAT(error_of("short.caffemodel"), HasSubstr("'a.weight': declares [9] and has 1 numbers"));
  EXPECT_THAT(error_of("none.caffemodel"), HasSubstr("has no layers with weights"));
  write_content(*folder_ / "text.caffemodel", "layer { name: \"conv1\" }\n");
  EXPECT_THAT(error_of("text.caffemodel"), HasSubstr("is damaged, or not a network of Caffe"));
}

TEST_F(CaffeFiles, a_damaged_file_is_an_error_or_has_the_same_shapes) {
  EXPECT_GE(errors_of_damaged("net.caffemodel", 200), 90U)
      << "cut between two layers, it is whole, but smaller";
  EXPECT_GE(errors_of_damaged("old.caffemodel", 200), 90U);
}

}  // namespace
}  // namespace tpack
