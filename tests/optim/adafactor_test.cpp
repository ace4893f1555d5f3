#include <cmath>

#include <gmock/gmock-matchers.h>

#include "optim/updates.h"
#include "support/live_fields.h"

namespace tpack {
namespace {

const live::Fields kAdafactor("optimizer", "Adafactor",
                              {.base = "{weight_decay: 0.1}", .values = {{"exclude", "[k]"}}});

class AdafactorOn : public testing::TestWithParam<Backend> {};

/// Squares that are a product of a row and a column are known exactly.
TEST_P(AdafactorOn, moves_a_matrix_of_rank_one_by_a_share_of_its_size) {
  Updates updates("Adafactor: {learning_rate: 0.01}", 1, GetParam(), {{"w", {2, 3}}});
  for (int i = 0; i < 6; ++i) updates.set("w", i, 2);
  for (int i = 0; i < 6; ++i)
    updates.set("@gradient/w", i, (i / 3 == 0 ? 4.0 : -0.5) * std::pow(10, i % 3 - 1));
  updates.run();
  for (int i = 0; i < 6; ++i) EXPECT_NEAR(updates.value("w", i), i < 3 ? 1.98 : 2.02, 1e-6) << i;
}

TEST_P(AdafactorOn, takes_smaller_steps_after_many_updates) {
  Updates updates("Adafactor: {learning_rate: 0.5}", 1, GetParam(), {{"b", {1}}});
  double before = 1;
  updates.set("b", 0, before);
  updates.set("@gradient/b", 0, -3);
  for (int t = 1; t <= 9; ++t) {
    updates.run();
    EXPECT_NEAR(updates.value("b", 0) / before - 1, std::min(0.5, 1 / std::sqrt(t)), 1e-6) << t;
    before = updates.value("b", 0);
  }
}

INSTANTIATE_TEST_SUITE_P(Backends, AdafactorOn, testing::Values(Backend::kReference, Backend::kCpu),
                         name_of_backend);

TEST(Adafactor, stores_rows_and_columns_of_matrices) {
  const Updates updates("Adafactor", 1, Backend::kReference, {{"w", {20, 30}}, {"b", {2}}});
  EXPECT_THAT(updates.variables().names(VariableScope::kOptimizer),
              testing::ElementsAre("@columns/w", "@rows/w", "@squares/b", "learning_rate", "updates"));
  EXPECT_EQ(updates.variables().tensor("@rows/w").elements(), 20);
  EXPECT_EQ(updates.variables().tensor("@columns/w").elements(), 30);
}

TEST(Adafactor, rejects_values_out_of_range) {
  for (const char* wrong :
       {"{exclude: [c]}", "{clip: 0.5}", "{decay: -0.8}", "{epsilon: 0}", "{least_size: 0}"})
    EXPECT_THROW(Updates("Adafactor: " + std::string(wrong)), ConfigError) << wrong;
}

}  // namespace
}  // namespace tpack
