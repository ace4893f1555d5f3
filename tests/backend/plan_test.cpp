#include "backend/plan.h"

#include <gtest/gtest.h>

#include "core/error.h"

namespace tpack {
namespace {

TEST(Plan, comes_back_from_json) {
  Plan plan;
  plan.cpu = "some cpu";
  plan.sections["backward float32 [2]"] = {
      2, {{"conv0/Convolution", {"nChw16c", "winograd"}}, {"bn", {"nhwc", ""}}}};
  EXPECT_EQ(Plan::from_json(plan.to_json(), "plan.json"), plan);
}

TEST(Plan, refuses_what_is_no_plan) {
  EXPECT_THROW(Plan::from_json("{}", "plan.json"), ConfigError);
  EXPECT_THROW(Plan::from_json("nonsense", "plan.json"), ConfigError);
  try {
    Plan::from_json(R"({"tpack_plan": 9})", "plan.json");
    FAIL();
  } catch (const ConfigError& error) {
    EXPECT_STREQ(error.what(), "plan.json: plan version 9; this build reads 1");
  }
}

}  // namespace
}  // namespace tpack
