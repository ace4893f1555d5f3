#include "optim/lookahead.h"

#include <gmock/gmock-matchers.h>

#include "optim/updates.h"

namespace tpack {
namespace {

/// The variable after each step of 1 downwards from 8.
std::vector<double> path_of(const std::string& fields, int steps, Backend backend = Backend::kReference) {
  Updates updates("SGD: {learning_rate: 1, " + fields + "}", 1, backend);
  updates.set("a", 0, 8);
  updates.set("@gradient/a", 0, 1);
  std::vector<double> path;
  for (int step = 0; step < steps; ++step) {
    updates.run({.step = step});
    path.push_back(updates.value("a", 0));
  }
  return path;
}

TEST(Lookahead, goes_back_to_slow_weights_after_some_updates) {
  for (const Backend backend : {Backend::kReference, Backend::kCpu}) {
    EXPECT_THAT(path_of("lookahead: {steps: 4, alpha: 0.5}", 9, backend),
                testing::ElementsAre(7, 6, 5, 6, 5, 4, 3, 4, 3));
    EXPECT_THAT(path_of("lookahead: {steps: 2, alpha: 0.25}", 5, backend),
                testing::ElementsAre(7, 7.5, 6.5, 7, 6));
    EXPECT_THAT(path_of("lookahead: {steps: 1, alpha: 0.5}", 3, backend), testing::ElementsAre(7.5, 7, 6.5));
  }
}

TEST(Lookahead, changes_nothing_with_all_of_the_way) {
  EXPECT_EQ(path_of("lookahead: {steps: 3, alpha: 1}", 10), path_of("", 10));
}

/// The first slow weights are within the limit, too: 5, not 8.
TEST(Lookahead, keeps_the_limits_of_variables) {
  EXPECT_THAT(path_of("clip_variables: 5, lookahead: {steps: 2, alpha: 0.5}", 6),
              testing::ElementsAre(5, 4.5, 3.5, 3.5, 2.5, 2.5));
}

TEST(Lookahead, stores_slow_weights_by_variable) {
  Updates updates("Momentum: {lookahead: {steps: 2}}");
  EXPECT_THAT(updates.variables().names(VariableScope::kOptimizer),
              testing::ElementsAre("@momentum/a", "@momentum/b", "@slow/a", "@slow/b", "learning_rate",
                                   "lookahead_updates"));
  updates.set("b", 1, 3);
  updates.run();
  EXPECT_EQ(updates.value("@slow/b", 1), 3);
}

TEST(Lookahead, rejects_what_would_train_nothing) {
  for (const char* wrong : {"{alpha: 0}", "{alpha: 1.5}", "{steps: 0}", "{k: 5}", "5", "true"})
    EXPECT_THROW(Updates("Adam: {lookahead: " + std::string(wrong) + "}"), ConfigError) << wrong;
}

}  // namespace
}  // namespace tpack
