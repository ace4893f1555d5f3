#include "experiment/gates.h"

#include <gtest/gtest.h>

namespace tpack {
namespace {

Monitors with(const std::string& name, double value) {
  Monitors monitors({});
  monitors.put_scalar(name, value);
  return monitors;
}

std::string missed(const std::vector<Gate>& gates, const Monitors& monitors) {
  try {
    require_gates(gates, monitors);
  } catch (const GateMissed& error) {
    return error.what();
  }
  return "";
}

TEST(Gates, look_at_the_newest_value) {
  Monitors monitors = with("accuracy", 0.1);
  monitors.put_scalar("accuracy", 0.9);
  EXPECT_EQ(missed({parse_gate("accuracy", ">= 0.8", {})}, monitors), "");
}

TEST(Gates, all_that_are_missed_are_named) {
  const Monitors monitors = with("accuracy", 0.5);
  EXPECT_EQ(missed({parse_gate("accuracy", ">= 0.8", {}), parse_gate("cost", "< 1", {})}, monitors),
            "gate accuracy >= 0.8 is missed: 0.5\ngate cost < 1 is missed: it has no value");
}

TEST(Gates, of_unknown_statistics_are_refused) {
  EXPECT_NO_THROW(check_gates({parse_gate("cost", "< 1", {})}, {"accuracy", "cost"}));
  EXPECT_THROW(check_gates({parse_gate("costs", "< 1", {})}, {"accuracy", "cost"}), ConfigError);
}

TEST(MonitorNeeds, are_statistics_of_the_run) {
  EXPECT_NO_THROW(check_monitor_needs({{"cost", "monitor SendMonitorData"}}, {"accuracy", "cost"}));
  try {
    check_monitor_needs({{"acuracy", "monitor SendMonitorData"}}, {"accuracy", "cost"});
    ADD_FAILURE() << "no error";
  } catch (const ConfigError& error) {
    EXPECT_EQ(std::string(error.what()),
              "monitor SendMonitorData: unknown statistic 'acuracy'; did you mean 'accuracy'?");
  }
}

}  // namespace
}  // namespace tpack
