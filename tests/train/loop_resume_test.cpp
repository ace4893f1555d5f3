// A run that is stopped and continued: in mid-epoch, in the hooks of an epoch, before the first epoch.
#include <filesystem>

#include <gmock/gmock-matchers.h>
#include <nlohmann/json.hpp>

#include "checkpoint/layout.h"
#include "core/stop.h"
#include "support/errors.h"
#include "support/fake_trainer.h"
#include "support/temporary_folder.h"
#include "train/loop.h"
#include "train/recording_callback.h"

namespace tpack {
namespace {

using testing::ElementsAre;
using testing::Pair;

using LoopResume = LoopTest;

/// A whole run in the folder, with a checkpoint of each epoch.
void train_and_save(const TemporaryFolder& folder, const RunLength& length) {
  FakeRun run(length, folder.str());
  run.add("ModelSaver").go();
}

TEST_F(LoopResume, continues_in_mid_epoch_with_the_remaining_hooks) {
  const TemporaryFolder folder;
  {
    std::stop_source source;
    FakeRun run({.max_epoch = 2, .steps_per_epoch = 2}, folder.str());
    run.options.interrupt = source.get_token();
    run.on_step("stop", [&](tpack::Run& at) {
      if (at.global_step() == 3) source.request_stop();
    });
    run.go();
  }
  TestRun run({.max_epoch = 2, .steps_per_epoch = 2}, trainer_);
  run.add("A", recording("A")).go_on_from(folder / "checkpoints/model-3.h5");
  EXPECT_THAT(record_,
              ElementsAre("A setup 0/-1/0", "A before_train 1/-1/3", "A before_epoch 2/0/3",
                          "A before_run 2/1/3", "step 3", "A after_run 2/1/4", "A trigger_step 2/1/4",
                          "A after_epoch 2/1/4", "A trigger 2/1/4", "A after_train 2/1/4"));
  EXPECT_THAT(trainer_.weights().span<float>(), ElementsAre(4, 4));
}

TEST_F(LoopResume, continues_after_an_epoch_that_was_saved_at_its_end) {
  const TemporaryFolder folder;
  train_and_save(folder, {.max_epoch = 1, .steps_per_epoch = 2});
  for (const int64_t steps_per_epoch : {2, 1, 5}) {  // a finished epoch is not repeated
    record_.clear();
    TestRun run({.max_epoch = 2, .steps_per_epoch = steps_per_epoch}, trainer_);
    run.add("A", recording("A")).go_on_from(folder / "checkpoints/model-2.h5");
    EXPECT_THAT(
        Record(record_.begin(), record_.begin() + 4),
        ElementsAre("A setup 0/-1/0", "A before_train 1/-1/2", "A before_epoch 2/-1/2", "A before_run 2/0/2"))
        << steps_per_epoch;
  }
}

TEST_F(LoopResume, a_stop_at_the_start_of_an_epoch_saves_what_the_end_of_the_one_before_it_saved) {
  const TemporaryFolder straight;
  train_and_save(straight, {.max_epoch = 1, .steps_per_epoch = 2});
  const TemporaryFolder folder;
  std::stop_source source;
  TestRun run({.max_epoch = 2, .steps_per_epoch = 2}, trainer_, folder.str());
  run.options.interrupt = source.get_token();
  run.add("A", recording("A", [&](const std::string& at, tpack::Run& /*run*/) {
            if (at == "before_epoch" && !record_.empty() && record_.back() == "A before_epoch 2/-1/2")
              source.request_stop();
          }));
  EXPECT_EQ(run.go().ending, StopReason::kInterrupted);
  const CheckpointContent expected = load_checkpoint(straight / "checkpoints/model-2.h5");
  const CheckpointContent content = load_checkpoint(folder / "checkpoints/model-2.h5");
  EXPECT_EQ(content.texts.at(layout::kRun), expected.texts.at(layout::kRun));
  EXPECT_EQ(content.epoch, expected.epoch);
}

TEST_F(LoopResume, says_that_nothing_is_left) {
  const TemporaryFolder folder;
  train_and_save(folder, {.max_epoch = 2, .steps_per_epoch = 2});
  TestRun run({.max_epoch = 1, .steps_per_epoch = 2}, trainer_);
  const LoopResult result = run.add("A", recording("A")).go_on_from(folder / "checkpoints/model-4.h5");
  EXPECT_TRUE(run.loop().nothing_is_left());
  EXPECT_EQ(result.reason, "nothing left to do: epoch 2 is done, max_epoch is 1");
  EXPECT_EQ(result.global_step, 4);
  EXPECT_THAT(record_, ElementsAre("A setup 0/-1/0", "A before_train 2/-1/4", "A after_train 2/-1/4"));
}

TEST_F(LoopResume, a_stop_in_the_last_step_of_an_epoch_repeats_and_leaves_out_nothing) {
  for (const char* hook : {"before_run", "trigger_step", "after_epoch", "trigger"}) {
    const TemporaryFolder folder;
    record_.clear();
    FakeRun stopped({.max_epoch = 3, .steps_per_epoch = 2}, folder.str());
    stopped
        .add("A", recording("A",
                            [hook](const std::string& at, tpack::Run& run) {
                              if (at == hook && run.epoch() == 2 && run.local_step() == 1)
                                run.request_stop("enough");
                            }))
        .add("ModelSaver");
    const LoopResult result = stopped.go();
    EXPECT_EQ(result.ending, StopReason::kStopped) << hook;
    EXPECT_EQ(result.epoch, 2) << hook;
    EXPECT_EQ(result.global_step, 4) << hook;
    EXPECT_EQ(record_[record_.size() - 2], "A trigger 2/1/4") << hook;
    record_.clear();
    FakeRun resumed({.max_epoch = 3, .steps_per_epoch = 2});
    resumed.add("A", recording("A")).go_on_from(folder / "checkpoints/model-4.h5");
    EXPECT_EQ(record_[2], "A before_epoch 3/-1/4") << hook;
  }
}

TEST_F(LoopResume, a_run_that_a_callback_stops_before_training_trains_nothing) {
  const TemporaryFolder folder;
  train_and_save(folder, {.max_epoch = 1, .steps_per_epoch = 2});
  TestRun run({.max_epoch = 2, .steps_per_epoch = 2}, trainer_);
  run.add("A", recording("A", stopping("before_train")));
  const LoopResult result = run.go_on_from(folder / "checkpoints/model-2.h5");
  EXPECT_EQ(result.ending, StopReason::kStopped);
  EXPECT_EQ(result.epoch, 1);
  EXPECT_THAT(record_, ElementsAre("A setup 0/-1/0", "A before_train 1/-1/2", "A after_train 1/-1/2"));
}

TEST_F(LoopResume, an_interrupt_of_a_long_hook_saves_and_the_epochs_hooks_run_again) {
  const TemporaryFolder folder;
  std::stop_source source;
  const auto validate = [&](tpack::Run& at) {
    source.request_stop();
    if (at.stop_token().stop_requested()) throw Stopped{};
  };
  {
    FakeRun run({.max_epoch = 2, .steps_per_epoch = 2}, folder.str());
    run.options.interrupt = source.get_token();
    run.on_trigger("validate", validate);
    const LoopResult result = run.go();
    EXPECT_EQ(result.ending, StopReason::kInterrupted);
    EXPECT_EQ(result.reason, "interrupted, saved " + (folder / "checkpoints/model-2.h5"));
  }
  TestRun run({.max_epoch = 1, .steps_per_epoch = 2}, trainer_);
  run.add("A", recording("A")).go_on_from(folder / "checkpoints/model-2.h5");
  EXPECT_EQ(record_[record_.size() - 2], "A trigger 1/1/2");
}

TEST_F(LoopResume, an_interrupt_of_a_later_hook_takes_back_what_the_earlier_ones_gave) {
  const TemporaryFolder folder;
  std::stop_source source;
  const auto interrupt = [&](tpack::Run& /*at*/) {
    source.request_stop();
    throw Stopped{};
  };
  {
    FakeRun run({.max_epoch = 2, .steps_per_epoch = 2}, folder.str());
    run.options.interrupt = source.get_token();
    run.add("first", give_seven("first")).on_trigger("second", interrupt);
    EXPECT_EQ(run.go().ending, StopReason::kInterrupted);
  }
  {
    TestRun run({.max_epoch = 2, .steps_per_epoch = 2}, trainer_);
    run.add("first", give_seven("first")).add("second", give_seven("second"));
    run.go_on_from(folder / "checkpoints/model-2.h5");
    EXPECT_THAT(run.monitors.get_history("first"), ElementsAre(Pair(2, 7), Pair(4, 7)));
    EXPECT_THAT(run.monitors.get_history("second"), ElementsAre(Pair(2, 7), Pair(4, 7)));
  }
  FakeRun run({.max_epoch = 1, .steps_per_epoch = 3});  // more steps: its statistics are computed again
  run.add("first", give_seven("first")).add("second", give_seven("second"));
  run.go_on_from(folder / "checkpoints/model-2.h5");
  EXPECT_THAT(run.monitors.get_history("first"), ElementsAre(Pair(3, 7)));
}

TEST_F(LoopResume, a_callback_that_stopped_the_run_is_not_triggered_again_on_resume) {
  const TemporaryFolder folder;
  int triggered = 0;
  const auto stop_once = [&](tpack::Run& run) {
    ++triggered;
    if (run.epoch() == 1) run.request_stop("enough");
  };
  {
    FakeRun run({.max_epoch = 2, .steps_per_epoch = 2}, folder.str());
    run.add("ModelSaver").on_trigger("stop", stop_once);
    EXPECT_EQ(run.go().ending, StopReason::kStopped);
  }
  TestRun run({.max_epoch = 2, .steps_per_epoch = 2}, trainer_);
  run.on_trigger("stop", stop_once);
  run.go_on_from(folder / "checkpoints/model-2.h5");
  EXPECT_EQ(triggered, 2) << "once an epoch";
}

/// In the hooks of the second of two steps of an epoch, and in those of its end.
TEST_F(LoopResume, an_interrupt_after_a_stop_was_requested_runs_the_other_hooks_before_the_run_ends) {
  for (const std::string hook : {"trigger_step", "trigger"}) {
    const auto stop = [hook](const std::string& at, tpack::Run& on) {
      if (at == hook && on.global_step() == 2) on.request_stop("enough");
    };
    const TemporaryFolder folder;
    {
      std::stop_source source;
      FakeRun run({.max_epoch = 3, .steps_per_epoch = 2}, folder.str());
      run.options.interrupt = source.get_token();
      const auto interrupt = [&](const std::string& at, tpack::Run& on) {
        if (at != hook || on.global_step() != 2) return;
        source.request_stop();
        throw Stopped{};
      };
      run.add("A", recording("A", stop)).add("B", recording("B", interrupt));
      EXPECT_EQ(run.go().ending, StopReason::kInterrupted) << hook;
    }
    record_.clear();
    FakeRun run({.max_epoch = 3, .steps_per_epoch = 2});
    run.add("A", recording("A", stop)).add("B", recording("B"));
    const LoopResult result = run.go_on_from(folder / "checkpoints/model-2.h5");
    EXPECT_EQ(result.ending, StopReason::kStopped) << hook;
    EXPECT_EQ(result.reason, "enough") << hook;
    EXPECT_EQ(result.global_step, 2) << hook;
    EXPECT_THAT(record_, testing::Contains("B " + hook + " 1/1/2")) << hook;
    EXPECT_THAT(record_, testing::Contains("A " + hook + " 1/1/2")) << hook;
  }
}

/// Such as EarlyStop does.
TEST_F(LoopResume, a_callback_that_stops_again_does_not_end_a_run_within_hooks) {
  const TemporaryFolder folder;
  {
    FakeRun run({.max_epoch = 3, .steps_per_epoch = 2}, folder.str());
    run.add("A", recording("A")).add("B", recording("B", [](const std::string& at, tpack::Run& /*run*/) {
                                       if (at == "trigger") throw Stopped{};
                                     }));
    EXPECT_EQ(run.go().ending, StopReason::kInterrupted);
  }
  record_.clear();
  TestRun run({.max_epoch = 3, .steps_per_epoch = 2}, trainer_);
  run.add("A", recording("A", stopping("before_train"))).add("B", recording("B"));
  EXPECT_EQ(run.go_on_from(folder / "checkpoints/model-2.h5").ending, StopReason::kStopped);
  EXPECT_THAT(record_, testing::Contains("B trigger 1/1/2"));
}

TEST_F(LoopResume, bad_data_in_a_hook_lose_no_epoch) {
  const TemporaryFolder folder;
  TestRun run({.max_epoch = 1, .steps_per_epoch = 2}, trainer_, folder.str());
  run.add("ModelSaver").on_trigger("validate", [](tpack::Run& /*run*/) {
    throw DataError("a broken image");
  });
  EXPECT_THROW(run.go(), DataError);
  EXPECT_EQ(checkpoint_step(folder / "checkpoints/model-2.h5"), 2);
}

/// Interrupts the run before its first epoch.
class InterruptBeforeTrain final : public Callback {
 public:
  void before_train(tpack::Run& /*run*/) override { throw Stopped{}; }
};

/// A run from the beginning or from a checkpoint, which a signal ends.
void interrupt_after_step_3(const TemporaryFolder& folder, const RunLength& length,
                            const std::string& from = {}) {
  std::stop_source source;
  FakeRun run(length, folder.str());
  run.options.interrupt = source.get_token();
  run.on_step("stop", [&](tpack::Run& at) {
    if (at.global_step() == 3) source.request_stop();
  });
  from.empty() ? run.go() : run.go_on_from(from);
}

TEST_F(LoopResume, an_interrupt_before_the_first_epoch_keeps_the_place) {
  const TemporaryFolder folder;
  const RunLength length{.max_epoch = 2, .steps_per_epoch = 2};
  const auto interrupted = [&](const std::string& from) {
    FakeRun run(length, folder.str());
    run.add("stop", std::make_unique<InterruptBeforeTrain>());
    EXPECT_EQ((from.empty() ? run.go() : run.go_on_from(from)).ending, StopReason::kInterrupted);
  };
  interrupted("");
  const std::string start = folder / "checkpoints/model-0.h5";
  interrupted(start);
  interrupt_after_step_3(folder, length, start);
  const std::string middle = folder / "checkpoints/model-3.h5";
  interrupted(middle);
  TestRun run(length, trainer_);
  run.add("A", recording("A")).go_on_from(middle);
  EXPECT_EQ(record_[2], "A before_epoch 2/0/3");
  EXPECT_EQ(record_.back(), "A after_train 2/1/4");
}

TEST_F(LoopResume, a_stop_before_the_first_step_tells_the_epoch_that_would_go_on) {
  const TemporaryFolder folder;
  const RunLength length{.max_epoch = 3, .steps_per_epoch = 2};
  train_and_save(folder, {.max_epoch = 1, .steps_per_epoch = 2});
  interrupt_after_step_3(folder, length);
  const auto stopped = [&](const std::string& from) {
    FakeRun run(length);
    run.add("A", recording("A", stopping("before_train")));
    const LoopResult result = from.empty() ? run.go() : run.go_on_from(folder / ("checkpoints/" + from));
    EXPECT_EQ(result.ending, StopReason::kStopped);
    return std::pair(result.epoch, result.global_step);
  };
  EXPECT_THAT(stopped(""), Pair(0, 0));
  EXPECT_THAT(stopped("model-2.h5"), Pair(1, 2)) << "that one is done";
  EXPECT_THAT(stopped("model-3.h5"), Pair(2, 3));
}

TEST_F(LoopResume, rejects_numbers_that_no_run_has) {
  const TemporaryFolder folder;
  train_and_save(folder, {.max_epoch = 1, .steps_per_epoch = 2});
  const CheckpointContent good = load_checkpoint(folder / "checkpoints/model-2.h5");
  for (const char* name : {"epoch", "local_step", "global_step", "steps_per_epoch"}) {
    for (const char* value : {"9223372036854775807", "-7"}) {
      CheckpointContent bad = good;
      auto state = nlohmann::json::parse(bad.texts.at(layout::kRun));
      state[name] = value;
      bad.texts[layout::kRun] = state.dump();
      save_checkpoint(folder / "bad.h5", bad);
      TestRun run({.max_epoch = 2, .steps_per_epoch = 2}, trainer_);
      const std::string wanted =
          "bad.h5: is damaged: '" + std::string(name) + "' is " + value + "; it must be from";
      EXPECT_THAT([&] { run.go_on_from(folder / "bad.h5"); },
                  testing::ThrowsMessage<CheckpointError>(testing::HasSubstr(wanted)));
    }
  }
}

TEST_F(LoopResume, keeps_the_steps_before_one_whose_data_cannot_be_read) {
  const TemporaryFolder folder;
  const auto fails_at = [&](int64_t bad_step) {
    trainer_.on_step = [=](int64_t step) {
      if (step == bad_step) throw DataError("a.npz", "changed");
    };
    TestRun run({.max_epoch = 2, .steps_per_epoch = 10}, trainer_, folder.str());
    EXPECT_THROW(run.go(), DataError);
  };
  fails_at(0);
  EXPECT_FALSE(std::filesystem::exists(folder / "checkpoints/model-0.h5")) << "nothing was learned";
  fails_at(4);
  EXPECT_EQ(load_checkpoint(folder / "checkpoints/model-4.h5").step, 4);
  trainer_.on_step = nullptr;
  TestRun run({.max_epoch = 2, .steps_per_epoch = 10}, trainer_);
  run.go_on_from(folder / "checkpoints/model-4.h5");
  EXPECT_THAT(trainer_.weights().span<float>(), ElementsAre(20, 20));
}

}  // namespace
}  // namespace tpack
