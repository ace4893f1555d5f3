#include <gmock/gmock-matchers.h>

#include "callbacks/give_scalar.h"
#include "config/yaml_reader.h"
#include "support/captured_log.h"
#include "support/errors.h"
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
  FakeRun run(length);
  run.add("probed", Registry<Callback>::make_item(parse_yaml(item, "c.yaml"))).go();
  std::vector<std::string> some;
  for (const std::string& entry : Diary::entries()) {
    if (std::find(hooks.begin(), hooks.end(), entry.substr(0, entry.find(' '))) != hooks.end())
      some.push_back(entry);
  }
  return some;
}

/// When an item triggers: "2/6 4/12".
std::string triggers_of(const std::string& item, RunLength length = {.max_epoch = 4, .steps_per_epoch = 3}) {
  std::vector<std::string> all;
  for (const std::string& call : calls_of(item, {"trigger"}, length)) all.push_back(call.substr(8));
  return join(all, " ");
}

TEST(PeriodicTrigger, triggers_after_every_kth_epoch_and_step_once_where_both_are_due) {
  const std::string diary = "PeriodicTrigger: {callback: TestDiary, ";
  EXPECT_EQ(triggers_of(diary + "every_k_epochs: 2}"), "2/6 4/12");
  EXPECT_EQ(triggers_of(diary + "every_k_steps: 5}"), "2/5 4/10");
  EXPECT_EQ(triggers_of(diary + "every_k_steps: 4, every_k_epochs: 2}"), "2/4 2/6 3/8 4/12");
  EXPECT_EQ(triggers_of(diary + "every_k_steps: 3, every_k_epochs: 4}"), "1/3 2/6 3/9 4/12");
}

TEST(PeriodicTrigger, triggers_before_training_if_asked) {
  EXPECT_THAT(calls_of("PeriodicTrigger: {callback: TestDiary, every_k_epochs: 3, before_train: true}",
                       {"trigger", "before_train"}),
              ElementsAre("before_train 0/0", "trigger 0/0", "trigger 3/9"));
}

TEST(PeriodicTrigger, saves_what_there_is_before_the_first_step) {
  const TemporaryFolder folder;
  FakeRun run({.max_epoch = 1, .steps_per_epoch = 2}, folder.str());
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
  EXPECT_EQ(triggers_of("TestDiary: {every: 2}"), "2/6 4/12");
  EXPECT_EQ(triggers_of("TestDiary: {every: {epochs: 3, before_train: true}}"), "0/0 3/9");
  EXPECT_EQ(triggers_of("TestDiary: {every: {steps: 4, epochs: 2}}"), "2/4 2/6 3/8 4/12");
  const RunLength two_of_ten = {.max_epoch = 2, .steps_per_epoch = 10};
  EXPECT_EQ(triggers_of("TestDiary: {every: 0.25}", two_of_ten), "1/3 1/5 1/8 1/10 2/13 2/15 2/18 2/20");
  EXPECT_THAT(calls_of("TestDiary: {every: 0.1}", {"trigger"}, two_of_ten), testing::SizeIs(20));
  EXPECT_EQ(triggers_of("TestDiary: {every: 1.5}", {.max_epoch = 4, .steps_per_epoch = 2}), "2/3 3/6");
  EXPECT_TRUE(says(error_from([&] { triggers_of("TestDiary: {every: 0.05}", two_of_ten); }),
                   {"c.yaml:1:20:", "less than one step", "10 steps"}));
}

TEST(When, leaves_hooks_out_also_those_of_every) {
  EXPECT_THAT(calls_of("TestDiary: {when: epoch == 2 or step == 4}", {"before_epoch", "trigger_step"}),
              ElementsAre("before_epoch 2/3", "trigger_step 2/4", "trigger_step 2/5", "trigger_step 2/6"));
  EXPECT_EQ(triggers_of("TestDiary: {every: {steps: 2}, when: epoch > 2}"), "3/8 4/10 4/12");
  EXPECT_EQ(triggers_of("EnableIf: {callback: {TestDiary: {when: epoch < 4}}, condition: epoch > 2}"), "3/9");
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
  return error_from([&] { Registry<Callback>::make_item(parse_yaml(item, "c.yaml")); });
}

TEST(PeriodicTrigger, rejects_what_never_triggers_and_shows_mistakes_of_the_inner_callback) {
  EXPECT_TRUE(
      says(error_in("PeriodicTrigger: {callback: TestDiary}"), {"never triggers", "set every_k_epochs"}));
  EXPECT_TRUE(
      says(error_in("PeriodicCallback: {callback: TestDiary}"), {"never runs", "set every_k_epochs"}));
  EXPECT_TRUE(says(error_in("PeriodicTrigger: {every_k_epochs: 1}"), {"'callback' is missing"}));
  EXPECT_TRUE(says(error_in("PeriodicTrigger: {callback: {MaxSaver: {monitr: cost}}, every_k_epochs: 1}"),
                   {"c.yaml:1:40:", "'monitor' is missing", "c.yaml:1:41:", "did you mean 'monitor'?"}));
}

TEST(Every, is_an_error_where_it_cannot_be_meant) {
  struct Case {
    std::string item;
    std::string place;
    std::string what;
  };
  for (const Case& c : std::vector<Case>{
           {"TestDiary: {every: {steps: 0}}", "c.yaml:1:28:", "must be at least 1"},
           {"TestDiary: {every: {}}", "c.yaml:1:20:", "never triggers; set steps or epochs"},
           {"TestDiary: {every: often}", "c.yaml:1:20:", "a number of epochs, found the string 'often'"},
           {"TestDiary: {every: {step: 5}}", "c.yaml:1:21:", "did you mean 'steps'?"},
           {"PeriodicTrigger: {callback: {TestDiary: {every: 2}}, every_k_steps: 2}",
            "c.yaml:1:49:", "set twice"},
           {"ProgressBar: {every: 2}", "c.yaml:1:22:", "does nothing when it is triggered"},
           {"RunCommand: {command: [echo], at: train_end, every: 2}", "'every'",
            "the command run once; remove one"},
           {"RunCommand: {command: [echo], at: train_end, when: epoch > 2}", "'when'",
            "the command run once; remove one"},
           {"ModelSaver: {every_epochs: 5, every: 2}", "'every'",
            "every_epochs or every_steps is also set; keep one"},
           {"SWA: {every: {steps: 3}}", "'every'", "the weights are averaged at the ends of epochs"}})
    EXPECT_TRUE(says(error_in(c.item), {c.place, c.what}));
  EXPECT_EQ(error_in("ModelSaver: {every: 2}"), "no error");
}

TEST(Every, of_a_statistic_between_epochs_is_missed_by_a_saver_without) {
  const auto log_of = [](const std::string& saver) {
    const CapturedLog log;
    FakeRun run({.max_epoch = 1, .steps_per_epoch = 4});
    run.trainer.figures["cost"] = [](int64_t) { return 1.0; };
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
  const std::string saver = "PeriodicTrigger: {callback: {MinSaver: {monitor: cost}}, every_k_steps: 1}";
  const std::string means = "MovingAverageSummary: {}";
  const auto error_of = [](const std::vector<std::string>& items) {
    FakeRun run({.max_epoch = 1, .steps_per_epoch = 1});
    run.trainer.figures["cost"] = [](int64_t) { return 1.0; };
    run.add("give", give("accuracy", {1}));
    for (const std::string& item : items)
      run.add(item, Registry<Callback>::make_item(parse_yaml(item, "c.yaml")));
    return error_from([&] { run.go(); });
  };
  EXPECT_EQ(error_of({means, saver}), "no error");
  EXPECT_TRUE(says(error_of({saver, means}),
                   {"c.yaml:1:50:", "'cost' is reported by a", "move that callback before this"}));
  EXPECT_TRUE(
      says(error_of({"PeriodicTrigger: {callback: {MaxSaver: {monitor: accuracy}}, every_k_steps: 1}"}),
           {"c.yaml:1:50:", "'accuracy' is reported only", "also set `every: {steps: ...}`"}));
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
  FakeRun run({.max_epoch = 4, .steps_per_epoch = 1});
  run.add("give", give("accuracy", {0, 0.7, 0.2, 0.9}, {1}));
  run.add("EnableIf", parse_yaml("{callback: TestDiary, condition: accuracy > 0.5}", "c.yaml")).go();
  for (const auto& [entry, is_there] : {std::pair("trigger 1/1", false),  // it had no value
                                        {"trigger 2/2", true},
                                        {"trigger 3/3", false},
                                        {"trigger 4/4", true}})
    EXPECT_EQ(std::ranges::count(Diary::entries(), entry), is_there) << entry;
}

TEST(EnableIf, knows_its_names_before_training) {
  for (const auto& [condition, what] :
       {std::pair("epcoh > 1", "unknown statistic 'epcoh'; did you mean 'epoch'?"),
        std::pair("accuracy > 1", "'accuracy' is reported by a callback later in the list; move"),
        std::pair("epoch + 1", "must be true or false, such as `epoch > 3`; it is a number"),
        std::pair("epoch == 0 or epoch + 1", "such as `epoch > 3`; it is the number 2")}) {
    FakeRun run({.max_epoch = 1, .steps_per_epoch = 1});
    run.add("x",
            Registry<Callback>::make_item(parse_yaml(
                "EnableIf: {callback: TestDiary, condition: " + std::string(condition) + "}", "c.yaml")));
    run.add("give", give("accuracy", {1}));
    EXPECT_TRUE(says(error_from([&] { run.go(); }), {"c.yaml:1:44:", what}));
  }
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
