#include <filesystem>

#include <gmock/gmock-matchers.h>

#include "callbacks/give_scalar.h"
#include "checkpoint/layout.h"
#include "config/yaml_reader.h"
#include "core/stop.h"
#include "support/captured_log.h"
#include "support/errors.h"
#include "support/live_fields.h"
#include "support/on_ranks.h"
#include "support/small_training.h"
#include "support/temporary_folder.h"

namespace tpack {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

/// Reports the first weight, as the callbacks of SWA see it.
class ReportWeight final : public Callback {
 public:
  struct Params {
    bool interrupted = false;
  };
  static Schema<Params> schema() {
    return Schema<Params>("Reports the first weight.")
        .field("interrupted", &Params::interrupted, "ends the run");
  }
  explicit ReportWeight(Params p) : Callback({.may_end_early = {HookPhase::kTriggerEpoch}}), p_(p) {}
  void setup(Setup& setup) override { setup.provides("seen"); }
  void trigger(tpack::Run& run) override {
    run.monitors().put_scalar("seen", run.variables(VariableScope::kModel).at("w").at(0));
    if (p_.interrupted && run.epoch() == 3) throw Stopped{};
  }

 private:
  Params p_;
};
TPACK_REGISTER(Callback, ReportWeight, "TestReportWeight");
const live::Fields kReportWeight("callback", "TestReportWeight",
                                 {.left_out = {{"interrupted", "a test of tests"}},
                                  .build = [](const std::string&) { return std::string(); }});

/// The weights of FakeTrainer count the steps, of which each epoch has one.
class SwaTest : public testing::Test {
 protected:
  TestRun& start(const std::string& params, int64_t epochs) {
    run_ = std::make_unique<FakeRun>(RunLength{.max_epoch = epochs, .steps_per_epoch = 1}, folder_.str());
    return run_->add("SWA", parse_yaml(params, "s.yaml")).add("ModelSaver");
  }
  CheckpointContent saved() const { return load_checkpoint(folder_ / "checkpoints/swa.h5"); }

  TemporaryFolder folder_;
  std::unique_ptr<FakeRun> run_;
};

TEST_F(SwaTest, saves_the_mean_of_the_weights_at_the_ends_of_epochs) {
  start("{start_epoch: 2, every_k_epochs: 2}", 7).go();
  const CheckpointContent content = saved();
  EXPECT_EQ(content.tensors.at("model/w").at(0), (2 + 4 + 6) / 3.0);
  EXPECT_EQ(content.step, 6);
  EXPECT_FALSE(content.tensors.contains("optimizer/learning_rate"));
  EXPECT_EQ(run_->trainer.weights().at(0), 7) << "training goes on with its own";
}

TEST_F(SwaTest, its_callbacks_see_the_mean) {
  start("{start_epoch: 1, callbacks: [TestReportWeight, MaxSaver: {monitor: seen}]}", 3).go();
  EXPECT_THAT(run_->values("seen"), ElementsAre(1, 1.5, 2));
  EXPECT_EQ(load_checkpoint(folder_ / "checkpoints/max-seen.h5").tensors.at("model/w").at(0), 2);
  EXPECT_EQ(load_checkpoint(folder_ / "checkpoints/model-3.h5").tensors.at("model/w").at(0), 3);
}

TEST_F(SwaTest, a_resumed_run_has_the_same_mean) {
  const std::string params = "{start_epoch: 1, callbacks: [TestReportWeight]}";
  start(params, 5).go();
  const std::string statistics = bits_of_statistics(run_->monitors);
  const Tensor mean = saved().tensors.at("model/w");
  start(params, 3).go();
  start(params, 5).go_on_from(folder_ / "checkpoints/model-3.h5");
  EXPECT_EQ(bits_of_statistics(run_->monitors), statistics);
  EXPECT_TRUE(bit_equal(saved().tensors.at("model/w"), mean));
}

TEST_F(SwaTest, an_interrupted_epoch_counts_once) {
  start("{start_epoch: 1, callbacks: [TestReportWeight: {interrupted: true}]}", 5).go();
  EXPECT_EQ(run_->trainer.weights().at(0), 3) << "the weights are back";
  start("{start_epoch: 1, callbacks: [TestReportWeight]}", 5).go_on_from(folder_ / "checkpoints/model-3.h5");
  EXPECT_THAT(run_->values("seen"), ElementsAre(1, 1.5, 2, 2.5, 3));
  EXPECT_EQ(saved().tensors.at("model/w").at(0), 3);
}

/// The hooks of that epoch have not begun, and run when the run goes on.
TEST_F(SwaTest, a_file_that_was_requested_in_an_interrupted_epoch_is_written_later) {
  const auto callbacks = [](const char* last) {
    return "{start_epoch: 1, callbacks: [TestReportWeight, MaxSaver: {monitor: seen}, TestReportWeight" +
           std::string(last) + "]}";
  };
  const auto kept = [&] {
    return load_checkpoint(folder_ / "checkpoints/max-seen.h5").tensors.at("model/w").at(0);
  };
  start(callbacks(": {interrupted: true}"), 3).go();
  EXPECT_EQ(kept(), 1.5) << "of epoch 2";
  start(callbacks(""), 3).go_on_from(folder_ / "checkpoints/model-3.h5");
  EXPECT_EQ(kept(), 2);
}

TEST_F(SwaTest, cannot_be_resumed_from) {
  start("{start_epoch: 1}", 2).go();
  start("{start_epoch: 1}", 3);
  EXPECT_TRUE(says(error_from<CheckpointError>([&] { run_->go_on_from(folder_ / "checkpoints/swa.h5"); }),
                   {"swa.h5", "'run/json': it has weights", "to start a run with them, use"}));
}

TEST_F(SwaTest, says_that_it_begins_too_late_and_shows_mistakes_of_its_callbacks) {
  const CapturedLog log;
  start("{start_epoch: 9}", 2).go();
  EXPECT_TRUE(says(log.text(), {"SWA has no effect", "before start_epoch"}));
  EXPECT_TRUE(says(error_from([&] { start("{callbacks: [MaxSaver, MinSaver: {monitr: x}]}", 2); }),
                   {"callback MaxSaver: 'monitor' is missing", "unknown key 'monitr' in callback MinSaver"}));
}

/// Validation of the mean of the weights of a real model differs from that of the last weights, and a
/// validation after it sees the last weights again.
TEST(Swa, validates_the_mean_of_a_real_model) {
  const CapturedLog log;
  SmallRun run({.max_epoch = 3, .steps_per_epoch = 4});
  for (const char* name : {"before", "mean", "after"})
    run.options.flows.emplace(name, small_flow(11, "- BatchData: {batch_size: 4, remainder: true}"));
  run.add("InferenceRunner", {{"data", "before"}});
  run.add("SWA", parse_yaml("{start_epoch: 1, callbacks: [InferenceRunner: {data: mean}]}", "s.yaml"));
  run.add("InferenceRunner", {{"data", "after"}}).go();
  EXPECT_EQ(run.values("before_cost"), run.values("after_cost"));
  EXPECT_EQ(run.values("mean_cost").at(0), run.values("after_cost").at(0)) << "the mean of one";
  EXPECT_NE(run.values("mean_cost").at(2), run.values("after_cost").at(2));
  EXPECT_TRUE(says(log.text(), {"mean after global_step 12", "of 3 epochs' weights"}));
  EXPECT_THAT(log.text(), HasSubstr("after after global_step 12, by")) << "the model's own weights";
}

std::string files_and_figures(const std::string& item) {
  FakeTrainer trainer;
  const TemporaryFolder folder;
  TestRun run({.max_epoch = 7, .steps_per_epoch = 1}, trainer, folder.str());
  run.add("x", Registry<Callback>::make_item(parse_yaml(item, "s.yaml"))).go();
  const CheckpointContent content = load_checkpoint(folder / "checkpoints/swa.h5");
  return shortest(content.tensors.at("model/w").at(0)) + " " + join(run.monitors.names(), " ");
}
const live::Fields kSwa(
    "callback", "SWA",
    {.base = "{start_epoch: 2}",
     .values = {{"start_epoch", "3"}, {"every_k_epochs", "3"}, {"callbacks", "[TestReportWeight]"}},
     .build = files_and_figures});

std::string error_of_item(const std::string& item) {
  return error_from([&] { Registry<Callback>::make_item(parse_yaml(item, "s.yaml")); });
}

TEST(Swa, rejects_callbacks_that_cannot_work_with_the_mean) {
  EXPECT_THAT(error_of_item("SWA: {callbacks: [PeriodicTrigger: {callback: ModelSaver, every_k_epochs: 2}]}"),
              HasSubstr("s.yaml:1:19: callback SWA: a run cannot resume from averaged weights"));
  EXPECT_THAT(error_of_item("SWA: {callbacks: [HostMemoryTracker: {ranks: all}]}"),
              HasSubstr("callback SWA: its callbacks run only on the chief, which this one cannot"));
  EXPECT_EQ(error_of_item("SWA: {callbacks: [HostMemoryTracker]}"), "no error");
}

TEST(Swa, its_callbacks_see_the_mean_after_epochs_only) {
  for (const std::string when : {"every_k_steps: 1", "every_k_epochs: 1, before_train: true"}) {
    FakeRun run({.max_epoch = 2, .steps_per_epoch = 2});
    run.add("SWA", parse_yaml("{callbacks: [PeriodicTrigger: {callback: TestReportWeight, " + when + "}]}",
                              "s.yaml"));
    EXPECT_TRUE(says(error_from([&] { run.go(); }), {"callback SWA triggers its"}));
  }
}

/// What is inside asks other ranks nothing, which would wait for the chief forever, or run ahead.
TEST(Swa, its_callbacks_run_on_the_chief_alone_whatever_is_around_them) {
  const auto steps = on_ranks(2, [](int rank, const std::unique_ptr<Comm>& comm) {
    FakeRun run({.max_epoch = 3, .steps_per_epoch = 1});
    run.options.world = comm.get();
    run.add("give", give("cost", {1, 1, 1}));
    const std::string item = "{callbacks: [EnableIf: {condition: cost == 1, callback: HostMemoryTracker}]}";
    if (rank == 0) run.add("SWA", parse_yaml(item, "s.yaml"));
    const int64_t step = run.go().global_step;
    EXPECT_EQ(run.monitors.get_history("resident_memory_gb").empty(), rank != 0);
    return step;
  });
  EXPECT_THAT(steps, ElementsAre(3, 3));
}

}  // namespace
}  // namespace tpack
