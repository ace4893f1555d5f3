#include <gtest/gtest.h>

#include "callbacks/callback_scenes.h"
#include "callbacks/give_scalar.h"

namespace tpack {
namespace {

/// The epoch in which it ends a run whose cost has these values, and why.
std::pair<int64_t, std::string> bounded_run(const std::string& bound, const std::vector<double>& values) {
  FakeRun run({.max_epoch = std::ssize(values), .steps_per_epoch = 1});
  run.add("give", give("cost", values));
  run.add("StopAt", parse_yaml("{monitor: cost, " + bound + "}", "s.yaml"));
  const LoopResult result = run.go();
  return {result.ending == StopReason::kStopped ? result.epoch : 0, result.reason};
}

TEST(StopAt, ends_a_run_at_a_value) {
  EXPECT_EQ(bounded_run("at_least: 3", {1, 2.5, 3, 4}),
            std::pair(int64_t{3}, std::string("cost is 3, at least 3")));
  EXPECT_EQ(bounded_run("at_most: 0.5", {1, 0.75, 0.25, 4}),
            std::pair(int64_t{3}, std::string("cost is 0.25, at most 0.5")));
  EXPECT_EQ(bounded_run("at_least: 5", {1, 2, 3, NAN}).first, 0);
}

TEST(StopAt, needs_one_bound) {
  EXPECT_THROW(callback_of("StopAt: {monitor: cost}"), ConfigError);
  EXPECT_THROW(callback_of("StopAt: {monitor: cost, at_least: 1, at_most: 2}"), ConfigError);
}

/// What the run with other bounds comes to.
std::string end_of_stop_at(const std::string& item) {
  FakeRun run({.max_epoch = 4, .steps_per_epoch = 1});
  run.add("give", give("cost", {4, 3, 2, 1}));
  try {
    run.add("stop", callback_of(item));
    return std::to_string(run.go().epoch);
  } catch (const ConfigError& error) {
    return error.what();
  }
}

const live::Fields kStopAt("callback", "StopAt",
                           {.base = "{monitor: cost, at_most: 2}",
                            .values = {{"monitor", "nothing"}, {"at_least", "3"}, {"at_most", "3"}},
                            .build = end_of_stop_at});

}  // namespace
}  // namespace tpack
