#include <gmock/gmock.h>

#include "callbacks/give_scalar.h"
#include "config/yaml_reader.h"
#include "support/captured_log.h"
#include "support/live_fields.h"
#include "support/temporary_folder.h"
#include "train/recording_callback.h"

namespace tpack {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

/// Writes down when its hooks are called: "trigger 2/6" after the 6th step, in epoch 2.
class Diary final : public Callback, public CheckpointWriting {
 public:
  struct Params {
    std::string name = "diary";
    bool everywhere = false;
  };
  static std::vector<std::string>& entries() {
    static std::vector<std::string> all;
    return all;
  }
  static Schema<Params> schema() {
    return Schema<Params>("Writes down when it is called.")
        .field("name", &Params::name, "its identity")
        .field("everywhere", &Params::everywhere, "runs on all ranks");
  }
  explicit Diary(const Params& p)
      : Callback(
            {.identity = p.name, .only_one = true, .ranks = p.everywhere ? Ranks::kAll : Ranks::kChief}) {}

  void before_train(tpack::Run& run) override { add("before_train", run); }
  void before_epoch(tpack::Run& run) override { add("before_epoch", run); }
  void before_run(tpack::Run& run) override { add("before_run", run); }
  void after_run(tpack::Run& run) override { add("after_run", run); }
  void trigger_step(tpack::Run& run) override { add("trigger_step", run); }
  void after_epoch(tpack::Run& run) override { add("after_epoch", run); }
  void trigger(tpack::Run& run) override {
    add("trigger", run);
    ++count_;
  }
  void after_train(tpack::Run& run) override { add("after_train", run); }
  std::vector<std::string> checkpoints() const override { return {"inner.h5"}; }
  void save(State& state) const override { state.put("count", count_); }
  void load(const State& state) override { count_ = state.get<int64_t>("count"); }

 private:
  static void add(const std::string& hook, const tpack::Run& run) {
    entries().push_back(hook + " " + std::to_string(run.epoch()) + "/" + std::to_string(run.global_step()));
  }

  int64_t count_ = 0;
};

TPACK_REGISTER(Callback, Diary, "TestDiary");  // of this test program only
const live::Fields kDiary("callback", "TestDiary",
                          {.left_out = {{"name", "a test of tests"}, {"everywhere", "a test of tests"}}});

/// The calls of the inner callback of an item in a run of 4 epochs of 3 steps; of `hooks` alone.
std::vector<std::string> calls_of(const std::string& item, const std::vector<std::string>& hooks,
                                  RunLength length = {.max_epoch = 4, .steps_per_epoch = 3}) {
  Diary::entries().clear();
  FakeTrainer trainer;
  TestRun run(length, trainer);
  run.add("probed", Registry<Callback>::make_item(parse_yaml(item, "c.yaml"))).go();
  std::vector<std::string> some;
  for (const std::string& entry : Diary::entries()) {
    if (std::find(hooks.begin(), hooks.end(), entry.substr(0, entry.find(' '))) != hooks.end())
      some.push_back(entry);
  }
  return some;
}

TEST(PeriodicTrigger, triggers_after_every_kth_epoch) {
  EXPECT_THAT(calls_of("PeriodicTrigger: {callback: TestDiary, every_k_epochs: 2}", {"trigger"}),
              ElementsAre("trigger 2/6", "trigger 4/12"));
}

TEST(PeriodicTrigger, triggers_in_every_kth_step) {
  EXPECT_THAT(calls_of("PeriodicTrigger: {callback: TestDiary, every_k_steps: 5}", {"trigger"}),
              ElementsAre("trigger 2/5", "trigger 4/10"));
}

TEST(PeriodicTrigger, triggers_once_where_both_are_due) {
  EXPECT_THAT(
      calls_of("PeriodicTrigger: {callback: TestDiary, every_k_steps: 4, every_k_epochs: 2}", {"trigger"}),
      ElementsAre("trigger 2/4", "trigger 2/6", "trigger 3/8", "trigger 4/12"));
  EXPECT_THAT(
      calls_of("PeriodicTrigger: {callback: TestDiary, every_k_steps: 3, every_k_epochs: 4}", {"trigger"}),
      ElementsAre("trigger 1/3", "trigger 2/6", "trigger 3/9", "trigger 4/12"));
}

TEST(PeriodicTrigger, triggers_before_training_if_asked) {
  EXPECT_THAT(calls_of("PeriodicTrigger: {callback: TestDiary, every_k_epochs: 3, before_train: true}",
                       {"trigger", "before_train"}),
              ElementsAre("before_train 0/0", "trigger 0/0", "trigger 3/9"));
}

TEST(PeriodicTrigger, saves_what_there_is_before_the_first_step) {
  const TemporaryFolder folder;
  FakeTrainer trainer;
  TestRun run({.max_epoch = 1, .steps_per_epoch = 2}, trainer);
  run.options.folder = folder.str();
  const std::string item = "PeriodicTrigger: {callback: ModelSaver, every_k_epochs: 1, before_train: true}";
  run.add("saver", Registry<Callback>::make_item(parse_yaml(item, "c.yaml"))).go();
  EXPECT_EQ(load_checkpoint(folder / "checkpoints/model-0.h5").tensors.at("model/w").at(0), 0);
  EXPECT_EQ(load_checkpoint(folder / "checkpoints/model-2.h5").tensors.at("model/w").at(0), 2);
}

TEST(PeriodicTrigger, says_that_the_run_ends_before_it_triggers) {
  const CapturedLog log;
  const std::string warning = "c.yaml:1:29: 'every' has no effect: the run ends before it triggers";
  calls_of("PeriodicTrigger: {callback: TestDiary, every_k_epochs: 2, every_k_steps: 6}", {"trigger"},
           {.max_epoch = 2, .steps_per_epoch = 2});
  EXPECT_THAT(log.text(), testing::Not(HasSubstr(warning)));
  calls_of("PeriodicTrigger: {callback: TestDiary, every_k_epochs: 3, every_k_steps: 6}", {"trigger"},
           {.max_epoch = 2, .steps_per_epoch = 2});
  EXPECT_THAT(log.text(), HasSubstr(warning));
}

TEST(Every, says_when_a_callback_is_triggered) {
  EXPECT_THAT(calls_of("TestDiary: {every: 2}", {"trigger"}), ElementsAre("trigger 2/6", "trigger 4/12"));
  EXPECT_THAT(calls_of("TestDiary: {every: {epochs: 3, before_train: true}}", {"trigger"}),
              ElementsAre("trigger 0/0", "trigger 3/9"));
  EXPECT_THAT(calls_of("TestDiary: {every: {steps: 4, epochs: 2}}", {"trigger"}),
              ElementsAre("trigger 2/4", "trigger 2/6", "trigger 3/8", "trigger 4/12"));
}

TEST(Every, may_be_a_part_of_an_epoch) {
  const RunLength two_of_ten = {.max_epoch = 2, .steps_per_epoch = 10};
  EXPECT_THAT(calls_of("TestDiary: {every: 0.25}", {"trigger"}, two_of_ten),
              ElementsAre("trigger 1/3", "trigger 1/5", "trigger 1/8", "trigger 1/10", "trigger 2/13",
                          "trigger 2/15", "trigger 2/18", "trigger 2/20"));
  EXPECT_THAT(calls_of("TestDiary: {every: 0.1}", {"trigger"}, two_of_ten), testing::SizeIs(20));
  EXPECT_THAT(calls_of("TestDiary: {every: 1.5}", {"trigger"}, {.max_epoch = 4, .steps_per_epoch = 2}),
              ElementsAre("trigger 2/3", "trigger 3/6"));
  EXPECT_THAT(
      [&] { calls_of("TestDiary: {every: 0.05}", {}, two_of_ten); },
      testing::ThrowsMessage<ConfigError>("c.yaml:1:20: 'every': 0.05 epochs are less than one step; an "
                                          "epoch has 10 steps"));
}

TEST(When, leaves_hooks_out_also_those_of_every) {
  EXPECT_THAT(calls_of("TestDiary: {when: epoch == 2 or step == 4}", {"before_epoch", "trigger_step"}),
              ElementsAre("before_epoch 2/3", "trigger_step 2/4", "trigger_step 2/5", "trigger_step 2/6"));
  EXPECT_THAT(calls_of("TestDiary: {every: {steps: 2}, when: epoch > 2}", {"trigger"}),
              ElementsAre("trigger 3/8", "trigger 4/10", "trigger 4/12"));
  EXPECT_THAT(
      calls_of("EnableIf: {callback: {TestDiary: {when: epoch < 4}}, condition: epoch > 2}", {"trigger"}),
      ElementsAre("trigger 3/9"))
      << "both conditions";
}

TEST(PeriodicTrigger, calls_the_other_hooks_as_always) {
  EXPECT_THAT(calls_of("PeriodicTrigger: {callback: TestDiary, every_k_epochs: 5}",
                       {"before_train", "before_epoch", "before_run", "after_run", "trigger_step",
                        "after_epoch", "trigger", "after_train"},
                       {.max_epoch = 1, .steps_per_epoch = 1}),
              ElementsAre("before_train 0/0", "before_epoch 1/0", "before_run 1/0", "after_run 1/1",
                          "trigger_step 1/1", "after_epoch 1/1", "after_train 1/1"));
}

std::string error_in(const std::string& item) {
  try {
    Registry<Callback>::make_item(parse_yaml(item, "c.yaml"));
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "no error";
}

TEST(PeriodicTrigger, rejects_what_never_triggers_and_shows_mistakes_of_the_inner_callback) {
  EXPECT_THAT(error_in("PeriodicTrigger: {callback: TestDiary}"),
              HasSubstr("callback PeriodicTrigger: never triggers; set every_k_epochs or every_k_steps"));
  EXPECT_THAT(error_in("PeriodicTrigger: {every_k_epochs: 1}"), HasSubstr("'callback' is missing"));
  EXPECT_EQ(
      error_in("PeriodicTrigger: {callback: {MaxSaver: {monitr: cost}}, every_k_epochs: 1}"),
      "c.yaml:1:40: callback MaxSaver: 'monitor' is missing (the statistic; a callback earlier in the list "
      "must report it)\nc.yaml:1:41: unknown key 'monitr' in callback MaxSaver; did you mean 'monitor'?");
}

TEST(Every, is_an_error_where_it_cannot_be_meant) {
  EXPECT_EQ(error_in("TestDiary: {every: {steps: 0}}"),
            "c.yaml:1:28: 'steps' of 'every' of callback TestDiary is 0; must be at least 1");
  EXPECT_EQ(error_in("TestDiary: {every: {}}"),
            "c.yaml:1:20: 'every' of callback TestDiary: never triggers; set steps or epochs");
  EXPECT_EQ(
      error_in("TestDiary: {every: often}"),
      "c.yaml:1:20: 'every' of callback TestDiary: expected {steps: ...}, {epochs: ...}, or a number of "
      "epochs, found the string 'often'");
  EXPECT_EQ(error_in("TestDiary: {every: {step: 5}}"),
            "c.yaml:1:21: unknown key 'step' in 'every' of callback TestDiary; did you mean 'steps'?");
  EXPECT_EQ(error_in("PeriodicTrigger: {callback: {TestDiary: {every: 2}}, every_k_steps: 2}"),
            "c.yaml:1:49: 'every' is set twice: here, and by the wrapper of the callback");
  EXPECT_THAT(
      error_in("ProgressBar: {every: 2}"),
      HasSubstr("c.yaml:1:22: the callback does nothing when it is triggered, so 'every' has no effect"));
}

TEST(Every, is_an_error_of_a_command_that_runs_once) {
  for (const std::string key : {"every: 2", "when: epoch > 2"})
    EXPECT_THAT(error_in("RunCommand: {command: [echo], at: train_end, " + key + "}"),
                HasSubstr("': 'at' makes the command run once; remove one of them"));
}

TEST(Every, is_not_next_to_times_of_the_callback) {
  EXPECT_THAT(error_in("ModelSaver: {every_epochs: 5, every: 2}"),
              HasSubstr("'every': every_epochs or every_steps is also set; keep one of them"));
  EXPECT_EQ(error_in("ModelSaver: {every: 2}"), "no error");
  EXPECT_THAT(error_in("SWA: {every: {steps: 3}}"),
              HasSubstr("'every': the weights are averaged at the ends of epochs"));
}

TEST(Every, of_a_statistic_between_epochs_is_missed_by_a_saver_without) {
  const auto log_of = [](const std::string& saver) {
    const CapturedLog log;
    FakeTrainer trainer;
    trainer.figures["cost"] = [](int64_t) { return 1.0; };
    TestRun run({.max_epoch = 1, .steps_per_epoch = 4}, trainer);
    for (const std::string& item : {std::string("HostMemoryTracker: {every: {steps: 1}}"), saver})
      run.add(item, Registry<Callback>::make_item(parse_yaml(item, "c.yaml")));
    run.go();
    return log.text();
  };
  const std::string warning =
      "is also reported within epochs, and this callback would miss the best of these values";
  EXPECT_THAT(log_of("MinSaver: {monitor: resident_memory_gb}"), HasSubstr(warning));
  EXPECT_THAT(log_of("MinSaver: {monitor: resident_memory_gb, every: {steps: 1}}"),
              testing::Not(HasSubstr(warning)));
}

TEST(Spellings, make_the_callback_inside) {
  for (const std::string outer :
       {"PeriodicTrigger: {every_k_epochs: 2, ", "PeriodicCallback: {every_k_epochs: 2, ",
        "EnableIf: {condition: epoch > 1, "}) {
    const auto callback = Registry<Callback>::make_item(
        parse_yaml(outer + "callback: {TestDiary: {name: blue, everywhere: true}}}", "c.yaml"));
    EXPECT_EQ(callback->rules().identity, "blue");
    EXPECT_TRUE(callback->rules().only_one);
    EXPECT_THAT(checkpoints_of(*callback), testing::ElementsAre("inner.h5"));
    EXPECT_FALSE(callback->is_for_chief());
    const auto of_chief = Registry<Callback>::make_item(
        parse_yaml(outer + "callback: {TestDiary: {everywhere: true, ranks: chief}}}", "c.yaml"));
    EXPECT_TRUE(of_chief->is_for_chief()) << outer;
    State state;
    state.put("count", 7);
    callback->load(state);
    State saved;
    callback->save(saved);
    EXPECT_EQ(saved.get<int64_t>("count"), 7) << outer;
  }
}

TEST(PeriodicTrigger, in_steps_it_needs_what_is_reported_in_steps) {
  const auto error_of = [](bool producer_first, const std::string& producer) {
    FakeTrainer trainer;
    trainer.figures["cost"] = [](int64_t) { return 1.0; };
    TestRun run({.max_epoch = 1, .steps_per_epoch = 1}, trainer);
    const std::string consumer = "PeriodicTrigger: {callback: {MinSaver: {monitor: cost}}, every_k_steps: 1}";
    for (const std::string& item :
         producer_first ? std::vector{producer, consumer} : std::vector{consumer, producer})
      run.add(item, Registry<Callback>::make_item(parse_yaml(item, "c.yaml")));
    try {
      run.go();
    } catch (const ConfigError& error) {
      return std::string(error.what());
    }
    return std::string("no error");
  };
  EXPECT_EQ(error_of(true, "MovingAverageSummary: {}"), "no error");
  EXPECT_EQ(error_of(false, "MovingAverageSummary: {}"),
            "c.yaml:1:50: callback MinSaver: 'cost' is reported by a callback later in the list; move that "
            "callback before this one");
}

TEST(PeriodicTrigger, in_steps_it_does_not_see_what_is_reported_after_epochs) {
  FakeTrainer trainer;
  TestRun run({.max_epoch = 1, .steps_per_epoch = 1}, trainer);
  run.add("give", std::make_unique<GiveScalar>("accuracy", std::vector<double>{1}));
  const std::string item = "PeriodicTrigger: {callback: {MaxSaver: {monitor: accuracy}}, every_k_steps: 1}";
  run.add("save", Registry<Callback>::make_item(parse_yaml(item, "c.yaml")));
  try {
    run.go();
    FAIL() << "no error";
  } catch (const ConfigError& error) {
    EXPECT_STREQ(error.what(),
                 "c.yaml:1:50: callback MaxSaver: 'accuracy' is reported only after epochs, but is needed "
                 "after steps; also set `every: {steps: ...}` of the callback that reports it");
  }
}

TEST(PeriodicCallback, runs_the_hooks_of_every_kth_epoch_and_of_the_very_last_step) {
  EXPECT_THAT(
      calls_of("PeriodicCallback: {callback: TestDiary, every_k_epochs: 2}",
               {"before_epoch", "after_epoch", "trigger"}, {.max_epoch = 3, .steps_per_epoch = 2}),
      ElementsAre("before_epoch 2/2", "after_epoch 2/4", "trigger 2/4", "after_epoch 3/6", "trigger 3/6"));
}

/// before_run sees the number of steps before the step, and decides for after_run.
TEST(PeriodicCallback, runs_the_hooks_of_every_kth_step) {
  EXPECT_THAT(calls_of("PeriodicCallback: {callback: TestDiary, every_k_steps: 2}",
                       {"before_run", "after_run", "trigger_step"}, {.max_epoch = 1, .steps_per_epoch = 4}),
              ElementsAre("before_run 1/0", "after_run 1/1", "trigger_step 1/2", "before_run 1/2",
                          "after_run 1/3", "trigger_step 1/4"));
}

TEST(PeriodicCallback, leaves_the_hooks_around_the_training_alone) {
  EXPECT_THAT(
      calls_of("PeriodicCallback: {callback: TestDiary, every_k_epochs: 9}", {"before_train", "after_train"}),
      ElementsAre("before_train 0/0", "after_train 4/12"));
  EXPECT_THAT(error_in("PeriodicCallback: {callback: TestDiary}"),
              HasSubstr("callback PeriodicCallback: never runs; set every_k_epochs or every_k_steps"));
}

TEST(EnableIf, runs_the_hooks_where_the_condition_holds) {
  EXPECT_THAT(calls_of("EnableIf: {callback: TestDiary, condition: epoch == 2 or step == 4}",
                       {"before_epoch", "trigger_step", "trigger"}),
              ElementsAre("before_epoch 2/3", "trigger_step 2/4", "trigger_step 2/5", "trigger_step 2/6",
                          "trigger 2/6"));
  EXPECT_THAT(calls_of("EnableIf: {callback: TestDiary, condition: step % 4 == 1}",
                       {"before_run", "after_run", "trigger_step"}, {.max_epoch = 1, .steps_per_epoch = 3}),
              ElementsAre("trigger_step 1/1", "before_run 1/1", "after_run 1/2"));
}

TEST(EnableIf, may_depend_on_statistics) {
  Diary::entries().clear();
  FakeTrainer trainer;
  TestRun run({.max_epoch = 4, .steps_per_epoch = 1}, trainer);
  run.add("give", std::make_unique<GiveScalar>("accuracy", std::vector<double>{0, 0.7, 0.2, 0.9},
                                               std::vector<int64_t>{1}));
  run.add("x", Registry<Callback>::make_item(
                   parse_yaml("EnableIf: {callback: TestDiary, condition: accuracy > 0.5}", "c.yaml")));
  run.go();
  EXPECT_THAT(Diary::entries(), testing::Contains("trigger 2/2"));
  EXPECT_THAT(Diary::entries(), testing::Contains("trigger 4/4"));
  EXPECT_THAT(Diary::entries(), testing::Not(testing::Contains("trigger 1/1"))) << "it had no value";
  EXPECT_THAT(Diary::entries(), testing::Not(testing::Contains("trigger 3/3")));
}

TEST(EnableIf, knows_its_names_before_training) {
  const auto error_of = [](const std::string& condition) {
    FakeTrainer trainer;
    TestRun run({.max_epoch = 1, .steps_per_epoch = 1}, trainer);
    run.add("x", Registry<Callback>::make_item(
                     parse_yaml("EnableIf: {callback: TestDiary, condition: " + condition + "}", "c.yaml")));
    run.add("give", std::make_unique<GiveScalar>("accuracy", std::vector<double>{1}));
    try {
      run.go();
    } catch (const ConfigError& error) {
      return std::string(error.what());
    }
    return std::string("no error");
  };
  const std::string who = "c.yaml:1:44: 'when': ";
  EXPECT_EQ(error_of("epcoh > 1"), who + "unknown statistic 'epcoh'; did you mean 'epoch'?");
  EXPECT_EQ(
      error_of("accuracy > 1"),
      who + "'accuracy' is reported by a callback later in the list; move that callback before this one");
  EXPECT_EQ(error_of("epoch + 1"),
            who + "'epoch + 1' must be true or false, such as `epoch > 3`; it is a number");
  EXPECT_EQ(error_of("epoch == 0 or epoch + 1"),
            who + "'epoch == 0 or epoch + 1' must be true or false, such as `epoch > 3`; it is the number 2");
}

const live::Fields kPeriodicTrigger("callback", "PeriodicTrigger",
                                    {.base = "{callback: {ModelSaver: {keep: 9}}, every_k_epochs: 2}",
                                     .values = {{"callback", "{MinSaver: {monitor: cost}}"},
                                                {"every_k_steps", "3"},
                                                {"every_k_epochs", "3"},
                                                {"before_train", "true"}}});
const live::Fields kPeriodicCallback("callback", "PeriodicCallback",
                                     {.base = "{callback: ModelSaver, every_k_epochs: 5}",
                                      .values = {{"callback", "{MinSaver: {monitor: cost}}"},
                                                 {"every_k_epochs", "3"},
                                                 {"every_k_steps", "8"}}});
const live::Fields kEnableIf("callback", "EnableIf",
                             {.base = "{callback: ModelSaver, condition: epoch == 4}",
                              .values = {{"callback", "{MinSaver: {monitor: cost}}"},
                                         {"condition", "epoch == 5"}}});

}  // namespace
}  // namespace tpack
