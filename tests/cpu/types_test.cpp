#include <algorithm>
#include <cmath>
#include <optional>

#include <gmock/gmock-matchers.h>

#include "ops/op_cases.h"
#include "testkit/backend_check.h"

/// Ops on the types other than float that they take.
namespace tpack {
namespace {

constexpr std::array kTypes = {DType::kInt32, DType::kInt64, DType::kUInt8, DType::kBool};

/// Whole numbers of the type in place of floats.
Tensor as_type(const Tensor& x, DType type) {
  if (!is_float(x.dtype())) return x;
  Tensor whole = x.clone();
  for (double& value : whole.span<double>()) {
    value = std::round(value * 3);
    if (type == DType::kUInt8) value = std::abs(value);
  }
  return whole.cast(type);
}

/// The case with inputs of the type; nothing if one of its ops does not take it.
std::optional<OpCase> with_type(OpCase c, DType type) {
  for (Tensor& x : c.inputs) x = as_type(x, type);
  try {
    ops_of(c);
  } catch (const ShapeError&) {
    return std::nullopt;
  }
  return c;
}

void expect_near(const Tensor& found, const Tensor& expected) {
  ASSERT_EQ(found.spec(), expected.spec());
  for (int64_t i = 0; i < expected.elements(); ++i)
    EXPECT_NEAR(found.at(i), expected.at(i), 2e-6 * std::abs(expected.at(i))) << "element " << i;
}

class Types : public testing::TestWithParam<OpCase> {};

TEST_P(Types, that_an_op_takes_give_the_same_on_both_backends_in_each_layout) {
  for (const DType type : kTypes) {
    const auto c = with_type(GetParam(), type);
    if (!c) continue;
    const std::vector<Tensor> expected = testkit::evaluate(c->function, c->inputs, DType::kFloat32);
    for (const char* layout : {"", "nhwc", "nChw16c"}) {
      SCOPED_TRACE(std::string(tpack::name_of(type)) + " " + layout);
      const std::vector<Tensor> found = testkit::evaluate_on_cpu(c->function, c->inputs, {.layout = layout});
      ASSERT_GE(found.size(), expected.size());  // gradients follow
      for (size_t i = 0; i < expected.size(); ++i) expect_near(found[i], expected[i]);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Ops, Types, testing::ValuesIn(all_cases()), name_of_case);

/// So that the test above is not empty: an error in place of a type that an op takes is seen here.
TEST(Types, are_all_taken_by_what_moves_or_compares_elements) {
  const std::vector<std::string> ops = {
      "pad", "slice", "concat of the first axis", "select", "transpose", "broadcast mul", "greater"};
  for (const std::string& name : ops) {
    const std::vector<OpCase> all = all_cases();
    const auto c = std::ranges::find(all, name, &OpCase::name);
    ASSERT_NE(c, all.end()) << name;
    for (const DType type : kTypes) EXPECT_TRUE(with_type(*c, type)) << name << " " << tpack::name_of(type);
  }
}

}  // namespace
}  // namespace tpack
