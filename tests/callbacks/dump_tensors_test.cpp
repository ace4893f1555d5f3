#include <gmock/gmock-matchers.h>

#include "callbacks/callback_scenes.h"
#include "checkpoint/checkpoint.h"

namespace tpack {
namespace {

using testing::ElementsAre;

TEST(DumpTensors, writes_each_step_what_it_saw) {
  const TemporaryFolder folder;
  SmallRun run({.max_epoch = 1, .steps_per_epoch = 2}, folder.str());
  run.add("DumpTensors", parse_yaml("{outputs: [x, fc1], variables: [fc1/b], gradients: [fc1/b]}", "d.yaml"));
  std::vector<Tensor> biases;
  std::vector<Tensor> gradients;
  run.on_step("look", [&](tpack::Run& at) {
    biases.push_back(at.store().value("fc1/b").clone());
    gradients.push_back(at.store().value("@gradient/fc1/b").clone());
  });
  run.go();
  EXPECT_THAT(names_in(folder / "tensors"), ElementsAre("step-000000001.h5", "step-000000002.h5"));
  for (size_t step = 1; step <= 2; ++step) {
    const auto file = load_checkpoint(folder / "tensors/step-00000000" + std::to_string(step) + ".h5");
    EXPECT_EQ(file.step, static_cast<int64_t>(step));
    ASSERT_EQ(file.tensors.size(), 4U);
    EXPECT_EQ(file.tensors.at("output/x").shape(), (Shape{4, 5}));
    EXPECT_EQ(file.tensors.at("output/fc1").shape(), (Shape{4, 3}));
    EXPECT_TRUE(bit_equal(file.tensors.at("variable/fc1/b"), biases[step - 1]));
    EXPECT_TRUE(bit_equal(file.tensors.at("gradient/fc1/b"), gradients[step - 1]));
  }
}

/// The bias of the last layer is 0 before the first step, so its output is W x; after it, it is not.
TEST(DumpTensors, has_outputs_from_before_the_update) {
  const TemporaryFolder folder;
  SmallRun run({.max_epoch = 1, .steps_per_epoch = 1}, folder.str());
  run.add("DumpTensors", parse_yaml("{outputs: [fc.*]}", "d.yaml")).loop();
  const Tensor before = run.training.trainer().part<TrainedVariables>().variables()->value("fc1/W").clone();
  run.go();
  const auto file = load_checkpoint(folder / "tensors/step-000000001.h5");
  const Tensor hidden = file.tensors.at("output/fc0");
  const Tensor scores = file.tensors.at("output/fc1");
  for (int64_t n = 0; n < 4; ++n) {
    for (int64_t c = 0; c < 3; ++c) {
      double sum = 0;
      for (int64_t i = 0; i < 7; ++i) sum += hidden.at(n * 7 + i) * before.at(i * 3 + c);
      EXPECT_NEAR(scores.at(n * 3 + c), sum, 1e-6);
    }
  }
}

TEST(DumpTensors, writes_the_steps_that_are_chosen) {
  const TemporaryFolder folder;
  SmallRun run({.max_epoch = 1, .steps_per_epoch = 6}, folder.str());
  run.add("EnableIf",
          parse_yaml("{callback: {DumpTensors: {outputs: [fc1]}}, condition: step == 3}", "d.yaml"));
  run.add("PeriodicCallback",
          parse_yaml("{callback: {DumpTensors: {outputs: [fc1]}}, every_k_steps: 5}", "d.yaml"));
  run.go();
  EXPECT_THAT(names_in(folder / "tensors"),
              ElementsAre("step-000000001.h5", "step-000000004.h5", "step-000000006.h5"));
}

TEST(DumpTensors, finds_a_place_for_the_output_of_a_block_with_layers) {
  const TemporaryFolder folder;
  const std::string model = R"(
inputs:
  x: {shape: [5]}
  label: {shape: [], dtype: int32}
blocks:
  two:
    layers:
      - FullyConnected: {name: a, units: 4}
      - FullyConnected: {name: b, units: 3}
layers:
  - two: {name: body}
cost:
  - SoftmaxCrossEntropy: {logits: body, labels: label}
)";
  SmallTraining training(small_flow(22, "- BatchData: {batch_size: 4}"), "Simple", "Adam",
                         EngineSettings::Backend::kReference, make_self_comm(), model_of(model));
  TestRun run({.max_epoch = 1, .steps_per_epoch = 1}, training.trainer(), folder.str());
  run.add("DumpTensors", parse_yaml("{outputs: [body]}", "d.yaml")).go();
  std::vector<std::string> names;
  for (const auto& [name, value] : load_checkpoint(folder / "tensors/step-000000001.h5").tensors)
    names.push_back(name);
  EXPECT_THAT(names, ElementsAre("output/body/a", "output/body/b", "output/body/its output"));
}

/// The files of a run.
std::string files_of(const std::string& item) {
  const TemporaryFolder folder;
  SmallRun run({.max_epoch = 1, .steps_per_epoch = 2}, folder.str());
  run.add("probed", callback_of(item)).go();
  std::string text;
  for (const auto& [name, value] : load_checkpoint(folder / "tensors/step-000000002.h5").tensors)
    text += name + " ";
  return text;
}

const live::Fields kDumpTensors(
    "callback", "DumpTensors",
    {.base = "{outputs: [fc0]}",
     .values = {{"outputs", "[fc1]"}, {"variables", "[fc1/b]"}, {"gradients", "[fc1/b]"}},
     .build = files_of});

}  // namespace
}  // namespace tpack
