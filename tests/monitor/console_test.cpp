#include <gtest/gtest.h>

#include "core/error.h"
#include "core/registry.h"
#include "monitor/monitor.h"
#include "support/captured_log.h"
#include "support/live_fields.h"

namespace tpack {
namespace {

class Console : public testing::Test {
 protected:
  std::string printed() const { return log_.text(); }

  CapturedLog log_;
};

TEST_F(Console, prints_sorted_names_with_five_digits_once_an_epoch) {
  const auto monitor = Registry<Monitor>::make("Console");
  monitor->put_scalar("b", 1234567, {1, 5});
  monitor->put_scalar("a", 0.123456789, {1, 5});
  monitor->end_step({1, 5});
  EXPECT_EQ(printed(), "");
  monitor->end_epoch({1, 5});
  EXPECT_EQ(printed(), "a: 0.12346\nb: 1.2346e+06\n");
  monitor->end_epoch({2, 10});
  EXPECT_EQ(printed(), "a: 0.12346\nb: 1.2346e+06\n");
}

TEST_F(Console, prints_each_step_if_requested) {
  const auto monitor =
      Registry<Monitor>::make("ScalarPrinter", {{"enable_step", true}, {"enable_epoch", false}});
  monitor->put_scalar("a", 1, {1, 1});
  monitor->end_step({1, 1});
  monitor->put_scalar("b", 2, {1, 2});
  monitor->end_epoch({1, 2});
  EXPECT_EQ(printed(), "a: 1\n");
}

TEST_F(Console, prints_what_is_listed_and_not_forbidden) {
  const auto monitor = Registry<Monitor>::make("Console", {{"whitelist", ConfigNode::list({"^val", "cost"})},
                                                           {"blacklist", ConfigNode::list({"ema"})}});
  for (const char* name : {"val_error", "cost", "cost_ema", "speed"}) monitor->put_scalar(name, 1, {1, 1});
  monitor->end_epoch({1, 1});
  EXPECT_EQ(printed(), "cost: 1\nval_error: 1\n");
}

TEST_F(Console, rejects_a_pattern_that_is_not_a_regular_expression) {
  EXPECT_THROW(Registry<Monitor>::make("Console", {{"blacklist", ConfigNode::list({"["})}}), ConfigError);
}

const live::Fields kConsole("monitor", "Console",
                            {.values = {{"whitelist", "[cost]"}, {"blacklist", "[cost]"}}});

}  // namespace
}  // namespace tpack
