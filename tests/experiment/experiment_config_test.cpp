#include "experiment/experiment_config.h"

#include <gtest/gtest.h>

#include "config/merge.h"
#include "config/yaml_reader.h"

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

/// A value that stands for a field of a component goes on standing for it next to other settings.
TEST(ExperimentSchema, joins_the_short_form_of_a_component_with_its_settings) {
  const auto merged = [](const std::string& base, const std::string& over) {
    Diagnostics errors;
    const ConfigNode both =
        merge(parse_yaml(base, "base.yaml"), parse_yaml(over, "over.yaml"), config_structure(), errors);
    errors.throw_if_any();
    return both.find("data")->find("train")->items()[0];
  };
  const ConfigNode batches =
      merged("data: {train: [BatchData: 8]}", "data: {train: {BatchData: {remainder: true}}}");
  EXPECT_EQ(to_json(batches), to_json(parse_yaml("BatchData: {batch_size: 8, remainder: true}", "")));
  const ConfigNode joined =
      merged("data: {train: [JoinData: [a, b]]}", "data: {train: {JoinData: {shortest: true}}}");
  EXPECT_EQ(to_json(joined), to_json(parse_yaml("JoinData: {flows: [a, b], shortest: true}", "")));
  EXPECT_EQ(to_json(merged("data: {train: [JoinData: {flows: [a, b], shortest: true}]}",
                           "data: {train: {JoinData: [c, d]}}")),
            to_json(parse_yaml("JoinData: {flows: [c, d], shortest: true}", "")));
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

TEST(ExperimentSchema, reads_the_precision_of_products) {
  const auto parsed = [](const ConfigNode& engine) {
    return experiment_schema().parse({{"engine", engine}}, "the config");
  };
  EXPECT_EQ(parsed({{"threads", 1}}).engine.precision, Precision::kFp32);
  EXPECT_EQ(parsed({{"precision", "bf16"}}).engine.precision, Precision::kBf16);
  const ExperimentConfig half = parsed({{"precision", "fp16"}});
  EXPECT_EQ(half.engine.precision, Precision::kFp16);
  EXPECT_EQ(experiment_schema().dump(half).find("engine")->find("precision")->text(), "fp16");
  try {
    parsed({{"backend", "reference"}, {"dtype", "float64"}, {"precision", "bf16"}});
    FAIL();
  } catch (const ConfigError& error) {
    EXPECT_NE(std::string(error.what()).find("products of float64 are not rounded"), std::string::npos)
        << error.what();
  }
}

}  // namespace
}  // namespace tpack
