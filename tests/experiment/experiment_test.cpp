#include "experiment/experiment.h"

#include <filesystem>

#include <gmock/gmock-matchers.h>

#include "support/paths.h"
#include "support/program_runner.h"

namespace tpack {
namespace {

using testing_cli::kTinyConfig;

Experiment tiny(const std::vector<std::string>& overrides = {}) {
  return make_experiment(load_config_text(kTinyConfig, "tiny.yaml", {.overrides = overrides}), "tiny");
}

std::string error_of(const std::function<void()>& act) {
  try {
    act();
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "";
}

TEST(Experiment, makes_what_the_config_names) {
  const Experiment e = tiny();
  EXPECT_EQ(e.config.name, "tiny");
  EXPECT_NE(e.tower, nullptr);
  EXPECT_EQ(e.updates.size(), 1U);
  EXPECT_EQ(e.flows.size(), 2U);
  EXPECT_EQ(e.flow("validation").batch_size(), 4);
  EXPECT_EQ(e.callbacks[0].name, "model_saver_0");
  EXPECT_EQ(e.callbacks[1].name, "inference_runner_validation");
  EXPECT_GT(e.callbacks.size(), 2U) << "default callbacks";
  EXPECT_EQ(e.monitors.size(), 4U);
}

TEST(Experiment, default_callbacks_can_be_replaced) {
  EXPECT_EQ(tiny({"default_callbacks=false"}).callbacks.size(), 2U);
  EXPECT_EQ(tiny({"default_callbacks=[ThroughputTracker]"}).callbacks.size(), 3U);
  EXPECT_EQ(tiny({"default_callbacks=[ModelSaver]"}).callbacks.size(), 2U) << "listed already";
  EXPECT_EQ(tiny({"callbacks=[PeriodicTrigger: {callback: ModelSaver, every_k_epochs: 2}]",
                  "default_callbacks=[ModelSaver]"})
                .callbacks.size(),
            1U)
      << "listed inside of another one";
}

TEST(Experiment, effective_config_is_a_fixed_point) {
  const ConfigNode once = tiny().effective();
  const ConfigNode twice =
      make_experiment(load_config_text(to_yaml(once), "effective.yaml"), "x").effective();
  EXPECT_TRUE(once.same_value(twice)) << to_yaml(once) << to_yaml(twice);
}

TEST(Experiment, effective_config_of_each_shipped_config_is_a_fixed_point) {
  int configs = 0;
  for (const char* folder : {"configs", "bench/configs"}) {
    for (const auto& entry : std::filesystem::directory_iterator(source_folder() + "/" + folder)) {
      if (entry.path().extension() != ".yaml") continue;
      SCOPED_TRACE(entry.path().filename());
      const ConfigNode once = load_experiment(entry.path()).effective();
      const ConfigNode twice =
          make_experiment(load_experiment_config_text(to_yaml(once), "effective.yaml"), "x").effective();
      EXPECT_TRUE(once.same_value(twice)) << to_yaml(once) << to_yaml(twice);
      ++configs;
    }
  }
  EXPECT_GT(configs, 20);
}

TEST(Experiment, effective_config_has_every_section) {
  const ConfigNode effective = tiny().effective();
  const Schema<ExperimentConfig> sections = experiment_schema();
  for (const FieldInfo& field : sections.fields()) {
    EXPECT_NE(effective.find(field.name), nullptr) << field.name;
  }
}

TEST(Experiment, effective_paths_are_absolute) {
  const std::string flow =
      "data.validation=[{ImageFolder: pictures}, {AugmentImageComponent: [{Resize: 4}]}, "
      "{BatchData: {batch_size: 4}}]";
  const std::string yaml = to_yaml(tiny({flow}).effective());
  EXPECT_NE(yaml.find("dir: " + (std::filesystem::current_path() / "pictures").string()), std::string::npos)
      << yaml;
}

TEST(Experiment, the_trainer_says_what_it_needs) {
  const Experiment e = make_experiment(load_config_text("tpack: 1\noptimizer:\n", "empty.yaml"), "empty");
  EXPECT_EQ(error_of([&] { e.require_for_training(); }),
            "empty.yaml:1:1: 'model' is missing; trainer Simple needs it\n"
            "empty.yaml:1:1: 'data.train' is missing; trainer Simple needs it\n"
            "empty.yaml:2:1: 'optimizer' is missing; trainer Simple needs it");
}

TEST(Experiment, values_of_vars_reach_the_model) {
  const Experiment e = tiny({"vars={units: 7}", "model.layers.fc0.units=$(units)"});
  VariableTable table;
  Graph graph;
  Builder b(graph, table, {Phase::kTraining, DType::kFloat32});
  build_tower(b, *e.tower, {{DType::kUInt8, {2, 4, 4, 1}}, {DType::kInt32, {2}}}, {});
  EXPECT_EQ(table.find("fc0/W")->spec.shape, (Shape{16, 7}));
}

TEST(Experiment, unknown_flows_get_a_suggestion) {
  EXPECT_EQ(error_of([] { tiny().flow("validatoin"); }),
            "unknown flow 'validatoin'; did you mean 'validation'?");
}

TEST(Experiment, a_callback_around_another_one_has_the_name_of_that_one) {
  const Experiment e =
      tiny({"callbacks=[EnableIf: {condition: epoch > 1, callback: {PeriodicTrigger: "
            "{every_k_epochs: 2, callback: {InferenceRunner: {data: validation}}}}}]",
            "default_callbacks=false"});
  ASSERT_EQ(e.callbacks.size(), 1U);
  EXPECT_EQ(e.callbacks[0].name, "inference_runner_validation");
}

TEST(Experiment, mistakes_in_a_callback_inside_of_another_one_are_found) {
  EXPECT_THAT(error_of([] {
                tiny(
                    {"callbacks=[EnableIf: {condition: epoch > 1, callback: {InferenceRunner: {data: "
                     "validatoin}}}]"});
              }),
              testing::HasSubstr("unknown flow 'validatoin'; did you mean 'validation'?"));
  EXPECT_THAT(
      error_of([] {
        tiny({"callbacks=[ModelSaver, {PeriodicTrigger: {callback: ModelSaver, every_k_epochs: 2}}]"});
      }),
      testing::HasSubstr("duplicate callback ModelSaver; keep one of them"));
  EXPECT_THAT(error_of([] { tiny({"callbacks=[ModelSaver: {ranks: all}]"}); }),
              testing::HasSubstr("'ranks' must be chief: one process writes the checkpoints"));
}

TEST(Experiment, writes_ranks_back) {
  const Experiment e = tiny({"callbacks=[ThroughputTracker: {ranks: chief}, ModelSaver]"});
  EXPECT_TRUE(e.callbacks[0].callback->is_for_chief());
  const std::string yaml = to_yaml(e.effective());
  EXPECT_NE(yaml.find("ranks: chief"), std::string::npos) << yaml;
}

}  // namespace
}  // namespace tpack
