// Where a signal ends a callback early: the phase of hooks counts as not begun.
#include <filesystem>

#include <gmock/gmock-matchers.h>

#include "checkpoint/layout.h"
#include "core/stop.h"
#include "support/fake_trainer.h"
#include "support/temporary_folder.h"
#include "train/hook.h"
#include "train/loop.h"
#include "train/recording_callback.h"

namespace tpack {
namespace {

using testing::ElementsAre;

using HookPhases = LoopTest;

/// A run of two epochs of two steps: what `cut` watches ends once at step 3, in the middle of trigger_step;
/// the callback after it needs the statistics of the step. Returns the last checkpoint's texts.
std::map<std::string, std::string> run_with_cut(bool cut) {
  const TemporaryFolder folder;
  std::string from;
  for (bool again = true; again;) {
    again = false;
    std::stop_source source;
    FakeRun run({.max_epoch = 2, .steps_per_epoch = 2}, folder.str());
    run.trainer.figures["cost"] = [](int64_t step) { return 0.1 * static_cast<double>(step); };
    run.trainer.is_due = [](int64_t steps) { return steps != 3; };
    run.options.interrupt = source.get_token();
    const auto give = [](const std::string& name) {
      return std::make_unique<FunctionCallback>(
          [name](tpack::Run& at) {
            at.monitors().put_scalar(name,
                                     10 * at.statistic(0).value_or(-1) + at.statistic_is_of_last_step(0));
          },
          nullptr, std::vector{name});
    };
    run.add("ModelSaver").add("first", give("first"));
    const auto put_or_interrupt = [&](tpack::Run& at) {
      if (cut && from.empty() && at.global_step() == 3) {
        source.request_stop();
        throw Stopped{};
      }
      at.monitors().put_scalar("long", static_cast<double>(at.global_step()));
    };
    run.add("long",
            std::make_unique<FunctionCallback>(put_or_interrupt, nullptr, std::vector<std::string>{"long"}));
    run.add("last", give("last"));
    const LoopResult result = from.empty() ? run.go() : run.go_on_from(from);
    again = result.ending == StopReason::kInterrupted;
    from = folder / "checkpoints/model-3.h5";
    EXPECT_EQ(again ? 3 : 4, result.global_step);
  }
  return load_checkpoint(folder / "checkpoints/model-4.h5").texts;
}

TEST_F(HookPhases, an_interrupt_within_the_hooks_of_a_step_changes_nothing) {
  EXPECT_EQ(run_with_cut(true), run_with_cut(false));
}

/// Whether a run that goes on from there has callbacks to call first.
bool is_within_a_hook(const std::string& checkpoint) {
  const CheckpointContent content = load_checkpoint(checkpoint);
  return State::from_json(content.texts.at(layout::kRun), checkpoint).has("hook");
}

TEST_F(HookPhases, a_phase_that_was_cut_short_sees_the_last_step_again) {
  const TemporaryFolder folder;
  const std::string saved = folder / "checkpoints/model-2.h5";
  std::vector<std::optional<double>> seen;
  for (const bool cut : {true, true, false}) {
    std::stop_source source;
    FakeRun run({.max_epoch = 2, .steps_per_epoch = 2}, folder.str());
    run.trainer.figures["cost"] = [](int64_t step) { return 0.1 * static_cast<double>(step); };
    run.options.interrupt = source.get_token();
    const auto look = [&](tpack::Run& at) {
      seen.push_back(at.statistic(0));
      if (!cut) return;
      source.request_stop();
      throw Stopped{};
    };
    run.on_trigger("first", look);
    const LoopResult result = seen.empty() ? run.go() : run.go_on_from(saved);
    EXPECT_EQ(result.ending, cut ? StopReason::kInterrupted : StopReason::kFinished);
    EXPECT_TRUE(is_within_a_hook(saved) || !cut);
  }
  ASSERT_EQ(seen.size(), 4U);  // in three processes after step 2, then after step 4
  for (const size_t again : {1U, 2U}) EXPECT_EQ(seen[again], seen[0]);
  EXPECT_TRUE(seen[0]);
}

TEST_F(HookPhases, an_interrupt_before_training_counts_as_not_begun) {
  const TemporaryFolder folder;
  struct Beginning final : Callback {
    Beginning(std::string name, bool cut, Record& record)
        : name_(std::move(name)), cut_(cut), record_(record) {}
    void before_train(tpack::Run& run) override {
      if (cut_) throw Stopped{};
      record_.push_back(name_ + (run.resumed() ? " resumed" : " new"));
    }
    std::string name_;
    bool cut_;
    Record& record_;
  };
  for (const bool cut : {true, true, false}) {
    FakeRun run({.max_epoch = 1, .steps_per_epoch = 1}, folder.str());
    for (const std::string name : {"a", "b", "c"})
      run.add(name, std::make_unique<Beginning>(name, cut && name == "b", record_));
    const LoopResult result = record_.empty() ? run.go() : run.go_on_from(folder / "checkpoints/model-0.h5");
    EXPECT_EQ(result.ending, cut ? StopReason::kInterrupted : StopReason::kFinished);
    EXPECT_TRUE(is_within_a_hook(folder / "checkpoints/model-0.h5") || !cut);
  }
  EXPECT_THAT(record_, ElementsAre("a new", "a new", "a new", "b new", "c new"));
}

/// Halves the learning rate and moves the weights.
struct Changing final : Callback {
  Changing() : Callback({.changes_variables = true}) {}
  void trigger(tpack::Run& run) override {
    run.set_hyper_parameter("learning_rate", run.hyper_parameter("learning_rate") / 2);
    const Tensor weights = run.store().value("w").clone();
    for (float& w : weights.span<float>()) w *= 3;
    run.store().set("w", weights);
  }
};

TEST_F(HookPhases, an_interrupted_phase_takes_back_variables_and_hyper_parameters) {
  const TemporaryFolder folder;
  const std::string saved = folder / "checkpoints/model-2.h5";
  for (const bool cut : {true, true, false}) {
    FakeRun run({.max_epoch = 1, .steps_per_epoch = 2}, folder.str());
    const auto end = [&](tpack::Run& /*at*/) {
      if (cut) throw Stopped{};
    };
    run.add("change", std::make_unique<Changing>()).add("ModelSaver").on_trigger("long", end);
    std::filesystem::exists(saved) ? run.go_on_from(saved) : run.go();
    const CheckpointContent content = load_checkpoint(saved);
    EXPECT_EQ(content.tensors.at("model/w").at(0), cut ? 2 : 6);
    EXPECT_FLOAT_EQ(static_cast<float>(content.tensors.at("optimizer/learning_rate").at(0)),
                    cut ? 0.1F : 0.05F);
    EXPECT_EQ(is_within_a_hook(saved), cut);
  }
}

TEST_F(HookPhases, a_run_interrupted_twice_in_its_hooks_ends_with_the_same_checkpoint) {
  const auto add = [&](TestRun& run, std::unique_ptr<Callback> second) {
    run.add("ModelSaver").add("first", give_seven("first")).add("second", std::move(second));
  };
  const TemporaryFolder whole;
  const TemporaryFolder stopped;
  {
    FakeRun run({.max_epoch = 1, .steps_per_epoch = 2}, whole.str());
    add(run, give_seven("second"));
    run.go();
  }
  for (int time = 0; time < 3; ++time) {
    std::stop_source source;
    FakeRun run({.max_epoch = 1, .steps_per_epoch = 2}, stopped.str());
    run.options.interrupt = source.get_token();
    const auto interrupt = [&](tpack::Run& /*at*/) {
      source.request_stop();
      throw Stopped{};
    };
    add(run, time < 2 ? std::make_unique<FunctionCallback>(nullptr, interrupt) : give_seven("second"));
    if (time == 1) source.request_stop();  // before the hooks
    time == 0 ? run.go() : run.go_on_from(stopped / "checkpoints/model-2.h5");
  }
  EXPECT_EQ(load_checkpoint(stopped / "checkpoints/model-2.h5").texts,
            load_checkpoint(whole / "checkpoints/model-2.h5").texts);
}

}  // namespace
}  // namespace tpack
