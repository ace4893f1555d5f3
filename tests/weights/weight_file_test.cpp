#include "weights/weight_file.h"

#include <gmock/gmock-matchers.h>

#include "support/temporary_folder.h"
#include "weights/weight_elements.h"

namespace tpack {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

class WeightFileTest : public testing::Test {
 protected:
  WeightFile open(const std::string& content) {
    write_content(folder_ / "w", content);
    return open_weight_file(folder_ / "w");
  }
  static std::string safetensors(const std::string& header, const std::string& data) {
    const uint64_t length = header.size();
    return std::string(reinterpret_cast<const char*>(&length), sizeof length) + header + data;
  }
  std::string error_of(const std::string& header, const std::string& data) {
    try {
      open(safetensors(header, data));
    } catch (const CheckpointError& error) {
      return error.what();
    }
    return "";
  }

  TemporaryFolder folder_;
};

TEST_F(WeightFileTest, reads_safetensors) {
  const float numbers[] = {1.5F, -2};
  std::string data(reinterpret_cast<const char*>(numbers), sizeof numbers);
  data += std::string("\x80\x3F\x00\x00", 4);  // bfloat16: 1, 0
  const WeightFile file = open(safetensors(R"({"__metadata__": {"format": "pt"},
      "b": {"dtype": "BF16", "shape": [2, 1], "data_offsets": [8, 12]},
      "a": {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}})",
                                           data));
  ASSERT_EQ(file.weights.size(), 2U);
  EXPECT_FALSE(file.is_in_order);
  EXPECT_EQ(file.others[0], (std::pair<std::string, std::string>("format", "pt")));
  EXPECT_EQ(file.find("a")->read().at(1), -2);
  EXPECT_EQ(file.find("b")->stored, "bfloat16");
  EXPECT_EQ(file.find("b")->read().at(0), 1);
  EXPECT_EQ(file.find("b")->spec, (TensorSpec{DType::kFloat32, {2, 1}}));
  EXPECT_EQ(file.find("c"), nullptr);
}

TEST_F(WeightFileTest, refuses_safetensors_that_contradict_themselves) {
  const std::string one = R"({"a": {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}})";
  EXPECT_EQ(error_of(one, "12345678"), "");
  EXPECT_THAT(error_of(one, "1234567"), HasSubstr("w: 'a': ends after the end of the file"));
  EXPECT_THAT(error_of(one, "123456789"), HasSubstr("has 1 bytes that belong to no tensor"));
  EXPECT_THAT(error_of(R"({"a": {"dtype": "F32", "shape": [3], "data_offsets": [0, 8]}})", "12345678"),
              HasSubstr("declares [3] of type F32 and has 8 bytes"));
  EXPECT_THAT(error_of(R"({"a": {"dtype": "X9", "shape": [], "data_offsets": [0, 0]}})", ""),
              HasSubstr("an unknown type 'X9'"));
  EXPECT_THAT(error_of(R"({"a": {"dtype": "F32", "shape": [], "data_offsets": [0, 4]},
                          "b": {"dtype": "F32", "shape": [], "data_offsets": [0, 4]}})",
                       "1234"),
              HasSubstr("'b': overlaps another tensor"));
  EXPECT_THAT(error_of(R"({"a": {"dtype": "F32", "shape": [], "data_offsets": [0, 4]},
                          "a": {"dtype": "F32", "shape": [], "data_offsets": [0, 4]}})",
                       "1234"),
              HasSubstr("has two tensors named 'a'"));
  EXPECT_THAT(error_of(R"({"a": {"dtype": "F32", "shape": [-1], "data_offsets": [0, 0]}})", ""),
              HasSubstr("'a': has a damaged shape"));
  EXPECT_THAT(
      error_of(R"({"a": {"dtype": "F32", "shape": [4294967296, 4294967296], "data_offsets": [0, 0]}})", ""),
      HasSubstr("'a': declares more than 2^35 elements"));
}

TEST_F(WeightFileTest, says_what_a_file_is_instead) {
  EXPECT_THAT([&] { open("a,b\n1,2\n"); },
              ThrowsMessage<CheckpointError>(HasSubstr("w: is text, not a file of weights; known are")));
  EXPECT_THAT([&] { open("<!DOCTYPE html><html></html>"); },
              ThrowsMessage<CheckpointError>(HasSubstr("not a file of weights")));
  EXPECT_THROW(open_weight_file(folder_ / "none"), CheckpointError);
}

TEST(StridedElements, are_in_the_bytes) {
  const std::vector<uint8_t> bytes(16, 1);  // four floats
  const ElementType type = *element_type("float32");
  const auto error = [&](StridedElements elements) -> std::string {
    elements.bytes = bytes;
    try {
      check_elements(elements, type, "x");
    } catch (const DataError& caught) {
      return caught.what();
    }
    return "";
  };
  EXPECT_EQ(error({{}, 0, {2, 2}, {2, 1}}), "");
  EXPECT_EQ(error({{}, 3, {}, {}}), "");
  EXPECT_EQ(error({{}, 9, {0, 5}, {1, 1}}), "") << "nothing is read";
  EXPECT_THAT(error({{}, 1, {2, 2}, {2, 1}}), HasSubstr("beyond the end of its storage of 4"));
  EXPECT_THAT(error({{}, -1, {2}, {1}}), HasSubstr("beyond the end"));
  EXPECT_THAT(error({{}, 0, {2, 2}, {3, 1}}), HasSubstr("beyond the end"));
  EXPECT_THAT(error({{}, 0, {5}, {0}}), HasSubstr("repeats its elements: 5 of 4"));
  EXPECT_THAT(error({{}, 0, {2}, {-1}}), HasSubstr("negative stride"));
  EXPECT_THAT(error({{}, 0, {2}, {}}), HasSubstr("1 sizes and 0 strides"));
  EXPECT_THAT(error({{}, int64_t{1} << 62, {int64_t{1} << 34}, {int64_t{1} << 34}}), HasSubstr("2^35"));
  EXPECT_EQ(element_type("complex64"), std::nullopt);
}

}  // namespace
}  // namespace tpack
