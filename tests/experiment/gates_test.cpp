#include "experiment/gates.h"

#include <cmath>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace tpack {
namespace {

Monitors with(const std::string& name, double value) {
  Monitors monitors({});
  monitors.put_scalar(name, value);
  return monitors;
}

std::string missed(const std::vector<Gate>& gates, const Monitors& monitors) {
  try {
    require_gates(gate_results(gates, monitors));
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

TEST(Gates, look_at_the_step_whose_weights_the_model_has) {
  Monitors monitors({});
  for (const auto& [step, value] : std::vector<std::pair<int64_t, double>>{{10, 0.5}, {20, 0.9}, {30, 0.7}}) {
    monitors.set_stamp({step, step});
    monitors.put_scalar("accuracy", value);
  }
  const std::vector<Gate> gates = {parse_gate("accuracy", ">= 0.8", {})};
  EXPECT_FALSE(gate_results(gates, monitors)[0].holds);
  EXPECT_TRUE(gate_results(gates, monitors, 20)[0].holds);
  EXPECT_TRUE(gate_results(gates, monitors, 25)[0].holds) << "evaluated before";
  EXPECT_EQ(to_json(gate_results(gates, monitors, 20)).dump(),
            R"([{"gate":"accuracy >= 0.8","value":0.9,"holds":true}])");
  EXPECT_EQ(to_json(gate_results({parse_gate("cost", "< 1", {})}, monitors)).dump(),
            R"([{"gate":"cost < 1","holds":false}])");
}

TEST(Gates, all_that_are_missed_are_named) {
  const Monitors monitors = with("accuracy", 0.5);
  EXPECT_EQ(missed({parse_gate("accuracy", ">= 0.8", {}), parse_gate("cost", "< 1", {})}, monitors),
            "gate accuracy >= 0.8 is missed: 0.5\ngate cost < 1 is missed: it has no value");
}

TEST(Gates, look_at_the_best_value_where_they_say_so) {
  Monitors monitors({});
  int64_t epoch = 0;
  for (const double value : std::vector<double>{0.5, 0.9, NAN, 0.7}) {
    ++epoch;
    monitors.set_stamp({epoch, epoch});
    monitors.put_scalar("accuracy", value);
  }
  EXPECT_EQ(missed({parse_gate("best accuracy", ">= 0.9", {})}, monitors), "");
  EXPECT_EQ(missed({parse_gate("best accuracy", "> 0.9", {})}, monitors),
            "gate best accuracy > 0.9 is missed: 0.9");
  EXPECT_EQ(missed({parse_gate("best accuracy", "< 0.6", {})}, monitors), "") << "the best is the lowest";
  EXPECT_EQ(missed({parse_gate("best cost", "< 0.6", {})}, monitors),
            "gate best cost < 0.6 is missed: it has no value");
}

const StatisticGoals kProvided = {{"accuracy", Goal::kMax}, {"cost", Goal::kMin}, {"mean", std::nullopt}};

std::string rejected(const std::string& name, const std::string& bound) {
  try {
    check_gates({parse_gate(name, bound, {})}, kProvided);
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "";
}

TEST(Gates, of_unknown_statistics_are_rejected) {
  EXPECT_EQ(rejected("cost", "< 1"), "");
  EXPECT_EQ(rejected("best cost", "< 1"), "");
  EXPECT_EQ(rejected("costs", "< 1"), "unknown statistic 'costs'; did you mean 'cost'?");
  EXPECT_EQ(rejected("best costs", "< 1"), "unknown statistic 'costs'; did you mean 'cost'?");
}

TEST(Gates, of_one_class_say_where_such_a_figure_is_named) {
  const StatisticGoals provided = {{"validation_cost", Goal::kMin}};
  const auto complaint = [&](const std::string& name, const StatisticGoals& known) -> std::string {
    try {
      check_gates({parse_gate(name, ">= 1", {})}, known, {"validation"});
    } catch (const ConfigError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(complaint("validation_recall.yes", provided),
            "unknown statistic 'validation_recall.yes'; figures of one class are reported only if they are "
            "named: InferenceRunner: {data: validation, metrics: [cost, recall.yes]}");
  EXPECT_EQ(complaint("validation_recall.yess", {{"validation_recall.yes", Goal::kMax}}),
            "unknown statistic 'validation_recall.yess'; did you mean 'validation_recall.yes'?");
}

TEST(Gates, that_bad_values_meet_are_rejected) {
  for (const char* bound : {"< 0.9", "<= 0.9"}) {
    EXPECT_EQ(rejected("accuracy", bound), "gate accuracy " + std::string(bound) +
                                               ": higher values of 'accuracy' are better; use >= or >");
    EXPECT_EQ(rejected("mean", bound), "");
  }
  EXPECT_EQ(rejected("cost", "> 1"), "gate cost > 1: lower values of 'cost' are better; use <= or <");
  EXPECT_EQ(rejected("mean", "> 1"), "");
}

TEST(MonitorNeeds, are_statistics_of_the_run) {
  EXPECT_NO_THROW(check_monitor_needs({{"cost", "monitor SendMonitorData"}}, kProvided));
  try {
    check_monitor_needs({{"acuracy", "monitor SendMonitorData"}}, kProvided);
    ADD_FAILURE() << "no error";
  } catch (const ConfigError& error) {
    EXPECT_EQ(std::string(error.what()),
              "monitor SendMonitorData: unknown statistic 'acuracy'; did you mean 'accuracy'?");
  }
}

}  // namespace
}  // namespace tpack
