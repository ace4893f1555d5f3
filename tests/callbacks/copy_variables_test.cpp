#include <gtest/gtest.h>

#include "config/yaml_reader.h"
#include "support/errors.h"
#include "support/fake_trainer.h"
#include "support/live_fields.h"
#include "support/small_training.h"
#include "support/temporary_folder.h"

namespace tpack {
namespace {

constexpr const char* kTwoNetworks = R"(
inputs: {x: {shape: [5], dtype: float32}, label: {shape: [], dtype: int32}}
networks:
  online: [{FullyConnected: {name: fc, units: 3}}]
  target: [{FullyConnected: {name: fc, units: 3}}]
  other: [{FullyConnected: {name: fc, units: 2}}]
layers:
  - Call: {name: logits, network: online, input: x}
  - Call: {name: goal, network: target, input: x}
  - Call: {name: rest, network: other, input: x}
cost: [{SoftmaxCrossEntropy: {logits: logits, labels: label}}]
)";

/// Runs two epochs of three steps of a training whose target is not trained, with a callback; what each step
/// and epoch made of the first weight of the target, relative to that of the trained network.
std::vector<double> distances(const std::string& params, const std::string& trainer = "Simple") {
  SmallTraining training(small_flow(40, "- BatchData: {batch_size: 4}"), trainer, "SGD: {learning_rate: 0.5}",
                         EngineSettings::Backend::kReference, make_self_comm(), model_of(kTwoNetworks));
  std::vector<double> all;
  const auto note = [&](Run& run) {
    const auto variables = run.variables(VariableScope::kModel);
    all.push_back(std::abs(variables.at("online/fc/W").at(0) - variables.at("target/fc/W").at(0)));
  };
  TestRun run({.max_epoch = 2, .steps_per_epoch = 3}, training.trainer());
  run.add("CopyVariables", parse_yaml(params, "c.yaml"));
  run.add("notes", std::make_unique<FunctionCallback>(note, note));
  run.go();
  return all;
}

std::string text_of(const std::vector<double>& values) {
  std::string text;
  for (const double value : values) text += shortest(value) + " ";
  return text;
}

const live::Fields kCopyVariables("callback", "CopyVariables",
                                  {.base = "{from: online, to: target, rate: 0.25}",
                                   .values = {{"from", "nothing"}, {"to", "nothing"}},
                                   .build = [](const std::string& item) {
                                     return text_of(
                                         distances(to_json(parse_yaml(item, "i.yaml").entries()[0].value)));
                                   }});

TEST(CopyVariables, copies_before_training_and_when_it_is_triggered) {
  for (const char* trainer : {"Simple", "SyncMultiGPU: {devices: [cpu:0, cpu:1]}"}) {
    const std::vector<double> all = distances("{from: online, to: target}", trainer);
    ASSERT_EQ(all.size(), 8);
    EXPECT_GT(all[0], 0) << "one step after the copy before training";
    EXPECT_LT(all[0], 0.2) << "other first weights are farther apart";
    EXPECT_EQ(all[3], 0) << "after the epoch";
    EXPECT_GT(all[4], 0);
    EXPECT_EQ(all[7], 0);
  }
}

TEST(CopyVariables, leaves_the_target_of_a_resumed_run_as_it_was) {
  const TemporaryFolder folder;
  const std::string saved = folder / "checkpoints/model-3.h5";
  const auto targets_of = [&](bool is_resumed) {  // after each step
    SmallTraining training(small_flow(40, "- BatchData: {batch_size: 4}"), "Simple",
                           "SGD: {learning_rate: 0.5}", EngineSettings::Backend::kReference, make_self_comm(),
                           model_of(kTwoNetworks));
    TestRun run({.max_epoch = is_resumed ? 2 : 1, .steps_per_epoch = 3}, training.trainer(), folder.str());
    run.add("CopyVariables", parse_yaml("{from: online, to: target, run_as_trigger: false}", "c.yaml"));
    std::vector<Tensor> all;
    run.on_step("notes", [&](tpack::Run& at) {
      all.push_back(at.variables(VariableScope::kModel).at("target/fc/W").clone());
    });
    run.add("ModelSaver");
    if (is_resumed) {
      run.go_on_from(saved);
    } else {
      run.go();
    }
    return all;
  };
  const Tensor first = targets_of(false).back();
  EXPECT_FALSE(bit_equal(first, load_checkpoint(saved).tensors.at("model/online/fc/W")));
  for (const Tensor& target : targets_of(true)) EXPECT_TRUE(bit_equal(target, first));
}

TEST(CopyVariables, goes_a_part_of_the_way) {
  const std::vector<double> all = distances("{from: online, to: target, rate: 0.25}");
  EXPECT_NEAR(all[3], 0.75 * all[2], 1e-6);
  EXPECT_NEAR(all[7], 0.75 * all[6], 1e-6);
}

TEST(CopyVariables, follows_each_step) {
  for (const double distance : distances("{from: online, to: target, run_step: true, run_before: false}"))
    EXPECT_EQ(distance, 0);
}

TEST(CopyVariables, rejects_networks_that_do_not_fit) {
  const auto error_of = [](const std::string& params) { return error_from([&] { distances(params); }); };
  EXPECT_TRUE(
      says(error_of("{from: online, to: other}"), {"'online/fc/W'", "'other/fc/W' is float32 [5, 2]"}));
  EXPECT_TRUE(says(error_of("{from: online, to: nothing}"), {"'nothing/fc/W' does not exist"}));
  EXPECT_TRUE(says(error_of("{from: nothing, to: target}"), {"no variable matches 'nothing'", "known: "}));
  EXPECT_TRUE(says(error_of("{from: online, to: online}"), {"are the same"}));
}

}  // namespace
}  // namespace tpack
