#include "remote/sample_frame.h"

#include "core/error.h"
#include "dataflow/flow_helpers.h"

namespace tpack {
namespace {

using testing::HasSubstr;

std::string frame_error(const std::string& line) {
  return error_of([&] { const SampleFrame frame(line); });
}

TEST(SampleFrame, describes_values_and_the_bytes_that_follow) {
  const SampleFrame frame(
      R"({"image": {"bytes": 3}, "x": {"dtype": "float32", "shape": [2, 1]}, "y": 2, "v": [[1, 2.5]], "t": "cat"})");
  EXPECT_EQ(frame.following(), 11U);
  EXPECT_EQ(frame.parts(), (std::vector<uint64_t>{3, 8}));
  const std::vector<uint8_t> bytes{'a', 'b', 'c', 0, 0, 128, 63, 0, 0, 0, 64};
  RecordFields fields;
  frame.add_to(fields, bytes);
  EXPECT_EQ(fields.describe(),
            "image (text 'abc'), x (float32 [2, 1]), y (int64 []), v (float64 [1, 2]), t (text 'cat')");
  EXPECT_EQ(error_of([&] { frame.add_to(fields, std::span(bytes).first(10)); }),
            "bytes of a value are missing");
}

TEST(SampleFrame, refuses_what_does_not_fit) {
  EXPECT_THAT(frame_error("[1]"), HasSubstr("line of JSON"));
  EXPECT_THAT(frame_error(R"({"x": {"dtype": "float31", "shape": [1]}})"),
              AllOf(HasSubstr("float31"), HasSubstr("float32")));
  EXPECT_THAT(frame_error(R"({"x": {"dtype": "float32", "shape": [-1]}})"), HasSubstr("shape"));
  EXPECT_THAT(frame_error(R"({"x": {"dtype": "uint8", "shape": [65536, 65536, 65536, 65536]}})"),
              HasSubstr("4 GB"));
  EXPECT_THAT(frame_error(R"({"x": {"dtype": "float64", "shape": [1000000000000]}})"), HasSubstr("4 GB"));
  EXPECT_THAT(frame_error(R"({"x": {"bytes": 18446744073709551615}})"), HasSubstr("4 GB"));
  EXPECT_THAT(frame_error(R"({"a": {"bytes": 4000000000}, "b": {"bytes": 4000000000}})"), HasSubstr("4 GB"));
  EXPECT_THAT(frame_error(R"({"x": [[1], [1, 2]]})"), HasSubstr("different sizes"));
  EXPECT_THAT(frame_error(R"({"x": [1, [1]]})"), HasSubstr("different sizes"));
  EXPECT_THAT(frame_error(R"({"x": 18446744073709551615})"), HasSubstr("64 bits"));
  EXPECT_THAT(frame_error(R"({"x": null})"), HasSubstr("'x'"));
  EXPECT_THAT(frame_error(R"({"x": [[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]})"), HasSubstr("deeply"));
}

TEST(SampleFrame, refuses_each_beginning_of_a_line) {
  const std::string line = R"({"x": {"dtype": "float32", "shape": [3]}, "y": [1, 2], "z": "t"})";
  for (size_t size = 0; size < line.size(); ++size)
    EXPECT_THAT(frame_error(line.substr(0, size)), HasSubstr("line of JSON")) << size;
}

}  // namespace
}  // namespace tpack
