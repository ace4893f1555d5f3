#include "experiment/experiment_config.h"

#include <gtest/gtest.h>

namespace tpack {
namespace {

TEST(GateBounds, hold_or_not) {
  EXPECT_TRUE(parse_gate("a", ">= 0.5", {}).holds(0.5));
  EXPECT_FALSE(parse_gate("a", "> 0.5", {}).holds(0.5));
  EXPECT_TRUE(parse_gate("a", "<=0.5", {}).holds(0.5));
  EXPECT_FALSE(parse_gate("a", "< 0.5", {}).holds(0.5));
  EXPECT_FALSE(parse_gate("a", ">= 0.5", {}).holds(std::nan("")));
}

TEST(GateBounds, are_read_and_written) {
  EXPECT_EQ(parse_gate("cost", "<= 1e-3", {}).str(), "cost <= 0.001");
  for (const char* bad : {"0.5", ">=", "> x", "== 1", "", ">= 1 2"}) {
    EXPECT_THROW(parse_gate("cost", bad, {}), ConfigError) << bad;
  }
}

TEST(ExperimentSchema, every_default_reads_back) {
  const ConfigNode defaults = experiment_schema().dump(ExperimentConfig{});
  Diagnostics errors;
  const ExperimentConfig again = experiment_schema().parse(defaults, "the config", errors);
  EXPECT_TRUE(errors.ok());
  EXPECT_TRUE(experiment_schema().dump(again).same_value(defaults));
}

TEST(ExperimentSchema, reads_steps_and_engine) {
  const ConfigNode node{{"steps_per_epoch", 30},
                        {"engine", {{"backend", "reference"}, {"dtype", "float64"}}}};
  const ExperimentConfig config = experiment_schema().parse(node, "the config");
  EXPECT_EQ(config.steps_per_epoch.steps, 30);
  EXPECT_EQ(config.engine.dtype, DType::kFloat64);
  EXPECT_TRUE(
      experiment_schema().parse({{"steps_per_epoch", "data"}}, "the config").steps_per_epoch.is_data());
}

}  // namespace
}  // namespace tpack
