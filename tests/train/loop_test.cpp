#include "train/loop.h"

#include <gmock/gmock-matchers.h>

#include "core/stop.h"
#include "core/text.h"
#include "support/errors.h"
#include "support/fake_trainer.h"
#include "support/temporary_folder.h"
#include "train/recording_callback.h"

namespace tpack {
namespace {

using testing::ElementsAre;
using testing::ElementsAreArray;
using testing::Pair;

const std::vector<std::string> kTwoEpochsOfTwoSteps = split(
    "A setup 0/-1/0;A before_train 0/-1/0;A before_epoch 1/-1/0;A before_run 1/0/0;step 0;"
    "A after_run 1/0/1;A trigger_step 1/0/1;A before_run 1/1/1;step 1;A after_run 1/1/2;"
    "A trigger_step 1/1/2;A after_epoch 1/1/2;A trigger 1/1/2;A before_epoch 2/-1/2;A before_run 2/0/2;"
    "step 2;A after_run 2/0/3;A trigger_step 2/0/3;A before_run 2/1/3;step 3;A after_run 2/1/4;"
    "A trigger_step 2/1/4;A after_epoch 2/1/4;A trigger 2/1/4;A after_train 2/1/4",
    ';');

TEST_F(LoopTest, calls_every_hook_with_tensorpacks_numbers) {
  TestRun run({.max_epoch = 2, .steps_per_epoch = 2}, trainer_);
  const LoopResult result = run.add("A", recording("A")).go();
  EXPECT_THAT(record_, ElementsAreArray(kTwoEpochsOfTwoSteps));
  EXPECT_EQ(result.ending, StopReason::kFinished);
  EXPECT_EQ(result.reason, "max_epoch 2 is done");
  EXPECT_EQ(result.epoch, 2);
  EXPECT_EQ(result.global_step, 4);
}

/// Keeps the texts that it gets.
class TextMonitor final : public Monitor {
 public:
  explicit TextMonitor(std::vector<std::string>& all) : all_(all) {}
  void put_scalar(const std::string& /*name*/, double /*value*/, const StepStamp& /*at*/) override {}
  void put_text(const std::string& name, const std::string& text, const StepStamp& at) override {
    all_.push_back(name + " " + text + " " + std::to_string(at.global_step));
  }
  void end_epoch(const StepStamp& /*at*/) override {}

 private:
  std::vector<std::string>& all_;
};

TEST_F(LoopTest, gives_texts_to_the_monitors_when_it_begins) {
  std::vector<std::string> texts;
  TestRun run({.max_epoch = 1, .steps_per_epoch = 2}, trainer_);
  run.watch(std::make_unique<TextMonitor>(texts));
  run.options.texts = {{"config", "max_epoch: 1"}};
  run.go();
  EXPECT_THAT(texts, ElementsAre("config max_epoch: 1 0"));
}

TEST_F(LoopTest, calls_each_hook_of_all_callbacks_in_the_order_of_the_list) {
  TestRun run({.max_epoch = 1, .steps_per_epoch = 1}, trainer_);
  run.add("A", recording("A")).add("B", recording("B")).go();
  EXPECT_THAT(record_, ElementsAre("A setup 0/-1/0", "B setup 0/-1/0", "A before_train 0/-1/0",
                                   "B before_train 0/-1/0", "A before_epoch 1/-1/0", "B before_epoch 1/-1/0",
                                   "A before_run 1/0/0", "B before_run 1/0/0", "step 0", "A after_run 1/0/1",
                                   "B after_run 1/0/1", "A trigger_step 1/0/1", "B trigger_step 1/0/1",
                                   "A after_epoch 1/0/1", "B after_epoch 1/0/1", "A trigger 1/0/1",
                                   "B trigger 1/0/1", "A after_train 1/0/1", "B after_train 1/0/1"));
}

TEST_F(LoopTest, an_epoch_without_steps_calls_its_hooks) {
  TestRun run({.max_epoch = 2, .steps_per_epoch = 0}, trainer_);
  run.add("A", recording("A")).go();
  EXPECT_THAT(record_, ElementsAre("A setup 0/-1/0", "A before_train 0/-1/0", "A before_epoch 1/-1/0",
                                   "A after_epoch 1/-1/0", "A trigger 1/-1/0", "A before_epoch 2/-1/0",
                                   "A after_epoch 2/-1/0", "A trigger 2/-1/0", "A after_train 2/-1/0"));
}

TEST_F(LoopTest, begins_with_the_starting_epoch_and_includes_the_last) {
  TestRun run({.starting_epoch = 5, .max_epoch = 6, .steps_per_epoch = 1}, trainer_);
  run.add("A", recording("A")).go();
  EXPECT_THAT(record_,
              ElementsAre("A setup 4/-1/0", "A before_train 4/-1/0", "A before_epoch 5/-1/0",
                          "A before_run 5/0/0", "step 0", "A after_run 5/0/1", "A trigger_step 5/0/1",
                          "A after_epoch 5/0/1", "A trigger 5/0/1", "A before_epoch 6/-1/1",
                          "A before_run 6/0/1", "step 1", "A after_run 6/0/2", "A trigger_step 6/0/2",
                          "A after_epoch 6/0/2", "A trigger 6/0/2", "A after_train 6/0/2"));
}

TEST_F(LoopTest, a_starting_epoch_after_the_last_one_trains_nothing) {
  TestRun run({.starting_epoch = 5, .max_epoch = 4, .steps_per_epoch = 1}, trainer_);
  EXPECT_EQ(run.add("A", recording("A")).go().ending, StopReason::kFinished);
  EXPECT_THAT(record_, ElementsAre("A setup 4/-1/0", "A before_train 4/-1/0", "A after_train 4/-1/0"));
}

/// A hook, and how many lines of the plain run come up to and including its first call.
struct HookCase {
  const char* hook;
  size_t lines;
  size_t lines_of_a_stop;  // with the hooks that belong to the same step or epoch
};
constexpr HookCase kHooks[] = {{"before_train", 2, 2}, {"before_epoch", 3, 3}, {"before_run", 4, 7},
                               {"after_run", 6, 7},    {"trigger_step", 7, 7}, {"after_epoch", 12, 13},
                               {"trigger", 13, 13}};

/// The first lines of the plain run, and the hook that is always called.
Record cut_at(size_t lines) {
  const std::string& last = kTwoEpochsOfTwoSteps[lines - 1];
  Record expected(kTwoEpochsOfTwoSteps.begin(), kTwoEpochsOfTwoSteps.begin() + static_cast<ptrdiff_t>(lines));
  expected.push_back("A after_train " + last.substr(last.rfind(' ') + 1));
  return expected;
}

TEST_F(LoopTest, a_stop_in_any_hook_finishes_the_step_or_the_epoch) {
  for (const HookCase& c : kHooks) {
    record_.clear();
    FakeRun run({.max_epoch = 2, .steps_per_epoch = 2});
    run.trainer.on_step = trainer_.on_step;
    run.add("A", recording("A", stopping(c.hook)));
    const LoopResult result = run.go();
    EXPECT_EQ(result.ending, StopReason::kStopped) << c.hook;
    EXPECT_EQ(result.reason, "enough") << c.hook;
    EXPECT_THAT(record_, ElementsAreArray(cut_at(c.lines_of_a_stop))) << c.hook;
  }
}

TEST_F(LoopTest, an_epoch_that_a_callback_stops_is_written_down) {
  struct EpochsSeen final : Monitor {
    explicit EpochsSeen(std::vector<std::pair<int64_t, double>>& seen) : seen_(seen) {}
    void put_scalar(const std::string& /*name*/, double value, const StepStamp& /*at*/) override {
      last_ = value;
    }
    void end_epoch(const StepStamp& at) override { seen_.emplace_back(at.epoch, last_); }
    std::vector<std::pair<int64_t, double>>& seen_;
    double last_ = 0;
  };
  std::vector<std::pair<int64_t, double>> seen;
  TestRun run({.max_epoch = 5, .steps_per_epoch = 2}, trainer_);
  run.watch(std::make_unique<EpochsSeen>(seen));
  const std::vector<std::string> put = {"x"};
  const auto stop_in_epoch_2 = [](tpack::Run& at) {
    at.monitors().put_scalar("x", 10.0 * static_cast<double>(at.epoch()));
    if (at.epoch() == 2) at.request_stop("enough");
  };
  run.add("stop", std::make_unique<FunctionCallback>(nullptr, stop_in_epoch_2, put));
  EXPECT_EQ(run.go().ending, StopReason::kStopped);
  EXPECT_THAT(seen, ElementsAre(testing::Pair(1, 10), testing::Pair(2, 20)));

  seen.clear();
  FakeRun in_mid_epoch({.max_epoch = 5, .steps_per_epoch = 2});
  in_mid_epoch.watch(std::make_unique<EpochsSeen>(seen));
  const auto stop_after_step_3 = [](tpack::Run& at) {
    at.monitors().put_scalar("x", static_cast<double>(at.global_step()));
    if (at.global_step() == 3) at.request_stop("enough");
  };
  in_mid_epoch.add("stop", std::make_unique<FunctionCallback>(stop_after_step_3, nullptr, put));
  EXPECT_EQ(in_mid_epoch.go().ending, StopReason::kStopped);
  EXPECT_THAT(seen, ElementsAre(testing::Pair(1, 2), testing::Pair(2, 3)));
}

TEST_F(LoopTest, an_error_in_any_hook_is_thrown_on_after_after_train) {
  for (const HookCase& c : kHooks) {
    record_.clear();
    FakeRun run({.max_epoch = 2, .steps_per_epoch = 2});
    run.trainer.on_step = trainer_.on_step;
    run.add("A", recording("A", throwing(c.hook, Diverged("no number"))));
    EXPECT_THROW(run.go(), Diverged) << c.hook;
    EXPECT_THAT(record_, ElementsAreArray(cut_at(c.lines))) << c.hook;
  }
}

TEST_F(LoopTest, a_foreign_exception_in_any_hook_names_the_callback) {
  for (const HookCase& c : kHooks) {
    FakeRun run({.max_epoch = 2, .steps_per_epoch = 2});
    run.add("A", recording("A"));
    run.add("B", recording("B", throwing(c.hook, std::runtime_error("boom"))));
    EXPECT_TRUE(says(error_from<InternalError>([&] { run.go(); }), {"callback B: boom"})) << c.hook;
  }
  TestRun full({.max_epoch = 1, .steps_per_epoch = 1}, trainer_);
  full.add("A", recording("A", throwing("trigger", std::bad_alloc())));
  EXPECT_TRUE(says(error_from<ResourceError>([&] { full.go(); }), {"callback A: not enough memory"}));
  TestRun run({.max_epoch = 1, .steps_per_epoch = 1}, trainer_);
  run.add("A", recording("A", throwing("setup", std::runtime_error("boom"))));
  EXPECT_TRUE(says(error_from<InternalError>([&] { run.go(); }), {"callback A: boom"}));
}

TEST_F(LoopTest, an_error_in_setup_ends_everything_with_all_problems) {
  TestRun run({.max_epoch = 1, .steps_per_epoch = 1}, trainer_);
  run.add("A", recording("A", throwing("setup", ConfigError("a is wrong"))));
  run.add("B", recording("B", throwing("setup", ConfigError("b is wrong"))));
  EXPECT_EQ(error_from([&] { run.go(); }), "a is wrong\nb is wrong");
  EXPECT_THAT(record_, ElementsAre("A setup 0/-1/0", "B setup 0/-1/0"));
}

TEST_F(LoopTest, an_error_in_after_train_does_not_keep_the_others_from_theirs) {
  TestRun run({.max_epoch = 0, .steps_per_epoch = 1}, trainer_);
  run.add("A", recording("A", throwing("after_train", DataError("disk"))));
  EXPECT_THROW(run.add("B", recording("B")).go(), DataError);
  EXPECT_EQ(record_.back(), "B after_train 0/-1/0");
}

TEST_F(LoopTest, a_stop_in_after_train_does_not_keep_the_others_from_theirs) {
  TestRun run({.max_epoch = 0, .steps_per_epoch = 1}, trainer_);
  run.add("A", recording("A", stopping("after_train")));
  run.add("B", recording("B", throwing("after_train", Stopped{})));
  EXPECT_EQ(run.add("C", recording("C")).go().ending, StopReason::kFinished);
  EXPECT_EQ(record_.back(), "C after_train 0/-1/0");
}

TEST_F(LoopTest, an_interrupt_of_before_run_takes_effect_after_the_step) {
  const TemporaryFolder folder;
  std::stop_source source;
  TestRun run({.max_epoch = 1, .steps_per_epoch = 3}, trainer_, folder.str());
  run.options.interrupt = source.get_token();
  run.add("A", recording("A", [&](const std::string& hook, tpack::Run& at) {
            if (hook != "before_run" || at.global_step() != 1) return;
            source.request_stop();
            throw Stopped{};
          }));
  const LoopResult result = run.go();
  EXPECT_EQ(result.ending, StopReason::kInterrupted);
  EXPECT_EQ(result.reason, "interrupted, saved " + (folder / "checkpoints/model-2.h5"));
  EXPECT_THAT(trainer_.weights().span<float>(), ElementsAre(2, 2));
}

TEST_F(LoopTest, an_error_in_a_step_is_thrown_on_after_after_train) {
  trainer_.on_step = [this](int64_t step) {
    record_.push_back("step " + std::to_string(step));
    if (step == 1) throw DataError("images/7.jpg", "is truncated");
  };
  TestRun run({.max_epoch = 2, .steps_per_epoch = 2}, trainer_);
  EXPECT_THROW(run.add("A", recording("A")).go(), DataError);
  Record expected(kTwoEpochsOfTwoSteps.begin(), kTwoEpochsOfTwoSteps.begin() + 9);
  expected.emplace_back("A after_train 1/0/1");  // the second step was not done
  EXPECT_THAT(record_, ElementsAreArray(expected));
}

TEST_F(LoopTest, the_end_of_the_data_is_an_ending_of_its_own) {
  trainer_.data_ends_after = 1;
  TestRun run({.max_epoch = 2, .steps_per_epoch = 2}, trainer_);
  const LoopResult result = run.add("A", recording("A")).go();
  EXPECT_EQ(result.ending, StopReason::kEndOfData);
  EXPECT_EQ(result.reason, "the data ended at global_step 1");
  Record expected(kTwoEpochsOfTwoSteps.begin(), kTwoEpochsOfTwoSteps.begin() + 9);
  expected.emplace_back("A after_train 1/0/1");  // the second step was not done
  EXPECT_THAT(record_, ElementsAreArray(expected));
}

TEST_F(LoopTest, an_interrupt_finishes_the_step_and_saves) {
  const TemporaryFolder folder;
  std::stop_source source;
  TestRun run({.max_epoch = 2, .steps_per_epoch = 2}, trainer_, folder.str());
  run.options.interrupt = source.get_token();
  run.add("A", recording("A", [&](const std::string& hook, tpack::Run& at) {
            if (hook == "before_run" && at.global_step() == 2) source.request_stop();
          }));
  const LoopResult result = run.go();
  EXPECT_EQ(result.ending, StopReason::kInterrupted);
  EXPECT_EQ(result.reason, "interrupted, saved " + (folder / "checkpoints/model-3.h5"));
  Record expected(kTwoEpochsOfTwoSteps.begin(), kTwoEpochsOfTwoSteps.begin() + 18);
  expected.emplace_back("A after_train 2/0/3");
  EXPECT_THAT(record_, ElementsAreArray(expected));
}

TEST_F(LoopTest, a_request_to_save_saves_after_the_step_and_goes_on) {
  const TemporaryFolder folder;
  int64_t asked = 0;
  TestRun run({.max_epoch = 2, .steps_per_epoch = 2}, trainer_, folder.str());
  run.options.save_request = [&] { return ++asked == 1 || asked == 4 ? "SIGUSR1" : ""; };
  const LoopResult result = run.go();
  EXPECT_EQ(result.ending, StopReason::kFinished);
  EXPECT_EQ(result.global_step, 4);
  for (const int step : {1, 4}) {
    FakeRun second({.max_epoch = 2, .steps_per_epoch = 2});
    second.go_on_from(folder / ("checkpoints/model-" + std::to_string(step) + ".h5"));
    EXPECT_THAT(second.trainer.weights().span<float>(), ElementsAre(4, 4)) << step;
  }
  EXPECT_FALSE(std::filesystem::exists(folder / "checkpoints/model-2.h5"));
}

TEST_F(LoopTest, an_interrupt_ends_a_run_without_steps) {
  std::stop_source source;
  TestRun run({.max_epoch = 1000, .steps_per_epoch = 0}, trainer_);
  run.options.interrupt = source.get_token();
  run.on_trigger("stop", [&](tpack::Run& at) {
    if (at.epoch() == 3) source.request_stop();
  });
  const LoopResult result = run.go();
  EXPECT_EQ(result.ending, StopReason::kInterrupted);
  EXPECT_EQ(result.epoch, 3) << "the next one has not begun";
}

TEST_F(LoopTest, a_callback_that_the_checkpoint_does_not_know_is_as_new) {
  struct Counting final : Callback {
    explicit Counting(int64_t count) : count_(count) {}
    void save(State& state) const override { state.put("count", count_); }
    void load(const State& state) override { count_ = state.get<int64_t>("count"); }
    int64_t count_;
  };
  const TemporaryFolder folder;
  {
    FakeRun run({.max_epoch = 1, .steps_per_epoch = 1}, folder.str());
    run.add("old", std::make_unique<Counting>(1)).add("ModelSaver").go();
  }
  TestRun run({.max_epoch = 2, .steps_per_epoch = 1}, trainer_);
  auto old = std::make_unique<Counting>(5);
  auto added = std::make_unique<Counting>(6);
  const Counting& old_one = *old;
  const Counting& added_one = *added;
  run.add("old", std::move(old)).add("added", std::move(added));
  EXPECT_EQ(run.go_on_from(folder / "checkpoints/model-1.h5").ending, StopReason::kFinished);
  EXPECT_EQ(old_one.count_, 1);
  EXPECT_EQ(added_one.count_, 6);
}

TEST_F(LoopTest, a_checkpoint_asked_for_in_the_last_step_holds_what_the_epochs_hooks_change) {
  const TemporaryFolder folder;
  TestRun run({.max_epoch = 1, .steps_per_epoch = 2}, trainer_, folder.str());
  const auto on_step = [](tpack::Run& at) {
    at.request_checkpoint({"s" + std::to_string(at.global_step()) + ".h5"});
  };
  const auto on_trigger = [](tpack::Run& at) { at.set_hyper_parameter("learning_rate", 0.5); };
  run.add("both", std::make_unique<FunctionCallback>(on_step, on_trigger)).go();
  const auto rate_in = [&](const std::string& name) {
    return load_checkpoint(folder / ("checkpoints/" + name)).tensors.at("optimizer/learning_rate").at(0);
  };
  EXPECT_FLOAT_EQ(static_cast<float>(rate_in("s1.h5")), 0.1F);
  EXPECT_EQ(rate_in("s2.h5"), 0.5);
}

TEST_F(LoopTest, monitors_know_the_step_of_every_value) {
  TestRun run({.max_epoch = 2, .steps_per_epoch = 3}, trainer_);
  run.add("put",
          std::make_unique<FunctionCallback>(
              [](tpack::Run& at) { at.monitors().put_scalar("step", static_cast<double>(at.local_step())); },
              [](tpack::Run& at) { at.monitors().put_scalar("epoch", static_cast<double>(at.epoch())); },
              std::vector<std::string>{"epoch", "step"}));
  run.go();
  using Pair = std::pair<int64_t, double>;
  EXPECT_THAT(run.monitors.get_history("step"),
              ElementsAre(Pair(1, 0), Pair(2, 1), Pair(3, 2), Pair(4, 0), Pair(5, 1), Pair(6, 2)));
  EXPECT_THAT(run.monitors.get_history("epoch"), ElementsAre(Pair(3, 1), Pair(6, 2)));
}

}  // namespace
}  // namespace tpack
