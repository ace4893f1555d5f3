#include "fields/tensor_fields.h"

#include <gmock/gmock-matchers.h>

#include "config/yaml_reader.h"
#include "core/error.h"

namespace tpack {
namespace {

/// The value, or the error at its place.
template <class T>
std::string read(const std::string& yaml) {
  Diagnostics errors;
  Reader reader("'field' of layer A", {}, errors);
  const auto value = Codec<T>::parse(parse_yaml(yaml, "a.yaml"), reader);
  if (value) return to_json(Codec<T>::dump(*value));
  try {
    errors.throw_if_any();
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "nothing was reported";
}

TEST(TensorFields, are_read_and_written_back) {
  EXPECT_EQ(read<Shape>("[3, -1, 28]"), "[3, -1, 28]");
  EXPECT_EQ(read<Shape>("[]"), "[]");
  EXPECT_EQ(read<DType>("uint8"), "\"uint8\"");
}

TEST(TensorFields, must_be_shapes_and_types) {
  EXPECT_THAT(read<Shape>("[3, 0]"), testing::HasSubstr("found a size of 0; sizes must be at least 1"));
  EXPECT_THAT(read<Shape>("[3, -2]"), testing::HasSubstr("negative size -2"));
  EXPECT_THAT(read<Shape>("[1, 1, 1, 1, 1, 1, 1, 1, 1]"), testing::HasSubstr("at most 8"));
  EXPECT_THAT(read<DType>("unit8"), testing::HasSubstr("did you mean 'uint8'"));
}

}  // namespace
}  // namespace tpack
