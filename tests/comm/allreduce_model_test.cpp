#include "comm/allreduce_model.h"

#include <gtest/gtest.h>

namespace tpack {
namespace {

constexpr double kFast = 1e20;

TEST(AllreduceModel, of_one_node_is_its_step) {
  EXPECT_DOUBLE_EQ(predicted_step_s({{{0.1, 1e6}}, 0.3, 0.02, kFast}, {1e6, 1}, 1), 0.32);
}

TEST(AllreduceModel, hides_sums_behind_backward) {
  // 1 MB at 100 MB/s: each of two exchanges takes half of that, 5 ms.
  const StepProfile profile{{{0.1, 1e6}, {0.2, 1e6}}, 0.3, 0.02, kFast};
  EXPECT_NEAR(predicted_step_s(profile, {1e8, 0}, 2), 0.32, 1e-9);
}

TEST(AllreduceModel, waits_for_the_wire_if_that_is_slower) {
  // 30 MB at 100 MB/s from 0.1 s on.
  const StepProfile profile{{{0.1, 1e7}, {0.2, 2e7}}, 0.3, 0.02, kFast};
  EXPECT_NEAR(predicted_step_s(profile, {1e8, 0}, 2), 0.1 + 0.3 + 0.02, 1e-9);
  // On many nodes each byte travels twice.
  EXPECT_NEAR(predicted_step_s(profile, {1e8, 0}, 1 << 20), 0.1 + 0.6 + 0.02, 1e-4);
}

TEST(AllreduceModel, counts_the_latencies_of_agreements_and_of_the_last_exchange) {
  const StepProfile profile{{{0.1, 1e6}, {0.1, 1e6}}, 0.1, 0.02, kFast};
  EXPECT_NEAR(predicted_step_s(profile, {1e8, 0.01}, 2), 4 * 0.01 + 0.1 + 2 * 0.01 + 2 * 0.01 + 0.02, 1e-9);
  const double exchanges = 2 * 0.01 * 2 * 7 / 8;
  EXPECT_NEAR(predicted_step_s(profile, {1e8, 0.01}, 8), 3 * 4 * 0.01 + 0.1 + exchanges + 2 * 0.01 + 0.02,
              1e-9);
}

TEST(AllreduceModel, waits_for_the_additions_if_they_are_slower_than_the_wire) {
  const StepProfile profile{{{0.1, 1e6}, {0.1, 1e6}}, 0.1, 0, 1e7};
  EXPECT_NEAR(predicted_step_s(profile, {1e8, 0}, 2), 0.1 + 2 * 0.5e6 / 1e7, 1e-9);
}

}  // namespace
}  // namespace tpack
