#include <gmock/gmock-more-matchers.h>

#include "ops/op_cases.h"

namespace tpack {
namespace {

using testkit::check_gradients;
using testkit::check_second_gradients;

class OpGradient : public testing::TestWithParam<OpCase> {};

TEST_P(OpGradient, agrees_with_central_differences) {
  const auto result = check_gradients(GetParam().function, GetParam().inputs);
  EXPECT_TRUE(result.ok) << result.largest_error << " at " << result.text;
}

TEST_P(OpGradient, can_be_differentiated_again) {
  const auto result = check_second_gradients(GetParam().function, GetParam().inputs, {.tolerance = 1e-5});
  EXPECT_TRUE(result.ok) << result.largest_error << " at " << result.text;
}

TEST(OpGradients, have_a_case_for_every_op) {
  EXPECT_THAT(ops_without_case(all_cases()), testing::IsEmpty()) << "add cases to tests/ops/op_cases.h";
}

INSTANTIATE_TEST_SUITE_P(Ops, OpGradient, testing::ValuesIn(all_cases()), name_of_case);

}  // namespace
}  // namespace tpack
