// The same seed and plan give the same bits, whatever else differs: workers, the length of an epoch, a cache.
#include <filesystem>

#include "backend/plan.h"
#include "comparison.h"
#include "training.h"

namespace tpack::reliability {
namespace {

class Determinism : public Training {};

TEST_F(Determinism, the_same_seed_and_plan_twice_give_the_same_bits) {
  train_well("first");
  std::filesystem::remove_all(folder_ / "cache");
  train_well("second", {"--plan", run_folder("first") + "/plan.json"});
  expect_same_checkpoint(checkpoint(100, "first"), checkpoint(100, "second"));
  expect_same_statistics(run_folder("first"), run_folder("second"));
  const Outcome diff =
      testing_cli::tpack({"ckpt", "diff", checkpoint(100, "first"), checkpoint(100, "second")});
  EXPECT_EQ(diff.code, 0) << diff.out;
  EXPECT_EQ(diff.out, "the contents are identical\n");
}

TEST_F(Determinism, another_seed_gives_other_bits) {
  train_well("first");
  train_well("second", {"--plan", run_folder("first") + "/plan.json", "--set", "seed=4"});
  const CheckpointContent first = load_checkpoint(checkpoint(100, "first"));
  const CheckpointContent second = load_checkpoint(checkpoint(100, "second"));
  EXPECT_FALSE(bit_equal(first.tensors.at("model/conv0/W"), second.tensors.at("model/conv0/W")));
  const Outcome diff =
      testing_cli::tpack({"ckpt", "diff", checkpoint(100, "first"), checkpoint(100, "second")});
  EXPECT_EQ(diff.code, 1);
  for (const char* entry :
       {"model/conv0/W ", "optimizer/m/fc0/W ", "statistic validation_cost ", "config/yaml "})
    EXPECT_NE(diff.out.find(entry), std::string::npos) << entry;
  EXPECT_EQ(diff.out.find("steps_per_s"), std::string::npos);
}

TEST_F(Determinism, one_two_and_four_data_workers_give_the_same_bits) {
  train_well("1", {"--set", "data.train.workers=1"});
  for (const std::string workers : {"2", "4"}) {
    SCOPED_TRACE(workers + " workers");
    train_well(workers, {"--plan", run_folder("1") + "/plan.json", "--set", "data.train.workers=" + workers});
    expect_same_state(load_checkpoint(checkpoint(100, "1")), load_checkpoint(checkpoint(100, workers)));
    expect_same_statistics(run_folder("1"), run_folder(workers));
  }
}

TEST_F(Determinism, the_length_of_an_epoch_does_not_change_the_weights_of_step_1000) {
  const auto train_epochs_of = [&](const std::string& steps, const std::string& max_epoch) {
    train_well(steps, {"--plan", folder_ / "plan.json", "--set", "steps_per_epoch=" + steps, "--set",
                       "max_epoch=" + max_epoch, "--set", "data.train.flow.RenderedDigits.size=2400", "--set",
                       "callbacks=[{ScheduledHyperParamSetter: {param: learning_rate, step_based: true, "
                       "values: [[300, 5.0e-4]]}}, {ModelSaver: {every_steps: 1000, keep: 10}}]"});
  };
  train_well("plan", {"--set", "max_epoch=1"});
  std::filesystem::copy(run_folder("plan") + "/plan.json", folder_ / "plan.json");
  train_epochs_of("data", "4");  // of 300 steps
  const CheckpointContent data = load_checkpoint(checkpoint(1000, "data"));
  train_epochs_of("100", "10");
  expect_same_state(load_checkpoint(checkpoint(1000, "100")), data);
  train_epochs_of("469", "3");
  expect_same_state(load_checkpoint(checkpoint(1000, "469")), data);
}

/// Two threads, batches of 64 and 32 filters: training uses everything that makes it fast.
class DeterminismOfFastKernels : public Training {
 protected:
  DeterminismOfFastKernels() { config_ = source_folder() + "/tests/reliability/tuned-convnet.yaml"; }

  Plan plan_of(const std::string& name) const {
    const std::string path = run_folder(name) + "/plan.json";
    return Plan::from_json(content_of(path), path);
  }
  /// The choices for the training step of a run.
  PlanSection training_step(const std::string& name) const {
    for (const auto& [program, section] : plan_of(name).sections) {
      if (program.starts_with("backward ")) return section;
    }
    ADD_FAILURE() << "the plan of " << name << " has no training step";
    return {};
  }
  void expect_same_run(const std::string& a, const std::string& b) const {
    SCOPED_TRACE(a + " and " + b);
    EXPECT_EQ(plan_of(a), plan_of(b));
    expect_same_checkpoint(checkpoint(kTunedSteps, a), checkpoint(kTunedSteps, b));
    expect_same_statistics(run_folder(a), run_folder(b));
  }

  static constexpr int64_t kTunedSteps = 40;
};

TEST_F(DeterminismOfFastKernels, measured_choices_in_a_plan_give_the_same_bits_with_and_without_the_cache) {
  train_well("first");
  const PlanSection step = training_step("first");
  EXPECT_EQ(step.pieces, 2);
  EXPECT_FALSE(step.nodes.contains("conv0/Convolution"));
  EXPECT_NE(step.nodes.at("pool0/MaxPool").algorithm, "") << "of the convolution that it is joined with";
  // Without the plan, a machine that is busier or less busy than before may choose differently.
  train_well("cached", {"--plan", run_folder("first") + "/plan.json"});
  expect_same_run("first", "cached");
  std::filesystem::remove_all(folder_ / "cache");
  train_well("planned", {"--plan", run_folder("first") + "/plan.json"});
  expect_same_run("first", "planned");
}

TEST_F(DeterminismOfFastKernels, winograd_on_two_threads_gives_the_same_bits) {
  for (const char* name : {"first", "second"}) train_well(name, {"--set", "engine.algorithm=heuristic"});
  const PlanSection step = training_step("first");
  for (const char* convolution : {"conv1/Convolution", "gradient/conv1/ConvolutionBackwardData",
                                  "gradient/conv1/ConvolutionBackwardWeights"})
    EXPECT_EQ(step.nodes.at(convolution).algorithm, "winograd-tiled") << convolution;
  expect_same_run("first", "second");
}

}  // namespace
}  // namespace tpack::reliability
