// Runs the program: what a resumed run takes from a checkpoint and from its run folder, and what it leaves
// there.
#include <algorithm>
#include <filesystem>
#include <map>

#include "run/train.h"
#include "support/errors.h"
#include "support/tiny_runs.h"

namespace tpack {
namespace {

namespace fs = std::filesystem;
using testing_cli::expect_same_tensors;
using testing_cli::joined;
using testing_cli::last_line;
using testing_cli::Outcome;
using testing_cli::tpack;
using testing_cli::Words;

using TrainResume = testing_cli::WithTinyRuns;

TEST_F(TrainResume, a_run_that_was_paused_ends_as_one_that_was_not) {
  const std::vector<std::string> options = {"--set", "max_epoch=3", "--set", "gates={cost: '< 0'}"};
  ASSERT_EQ(train(options, "whole").code, 8);
  Words paused = joined(options, {"--until-epoch", "2"});
  const Outcome first = train(paused);
  EXPECT_EQ(first.code, 0) << "gates are for the end: " << first.err;
  EXPECT_TRUE(says(first.err, {"training has finished: --until-epoch 2 is done"}));
  EXPECT_TRUE(says(content_of(run_folder() + "/exit.json"), {"\"is_paused\": true"}));
  EXPECT_EQ(exit_code(), 0);
  EXPECT_FALSE(std::filesystem::exists(checkpoint(30)));
  paused.insert(paused.end(), {"--resume", "auto"});
  EXPECT_TRUE(says(train(paused).err, {"--until-epoch is 2"}));
  const Words resumed = joined(options, {"--resume", "auto"});
  const Outcome rest = exits(8, train(resumed));
  EXPECT_EQ(rest.err.find("differs"), std::string::npos) << rest.err;
  expect_same_tensors(checkpoint(30), checkpoint(30, "whole"));
}

TEST_F(TrainResume, keeps_the_best_checkpoints_of_a_run_that_has_no_others) {
  const std::vector<std::string> best = {
      "--set", "callbacks=[InferenceRunner: {data: validation}, MaxSaver: {monitor: validation_accuracy}]"};
  ASSERT_EQ(train(best).code, 0);
  const std::string path = run_folder() + "/checkpoints/max-validation_accuracy.h5";
  const std::string before = content_of(path);
  EXPECT_EQ(train(best).code, 2);
  const Words on = joined(best, {"--resume", "auto"});
  const Outcome outcome = exits(0, train(on));
  EXPECT_NE(outcome.err.find("continuing from " + path), std::string::npos) << outcome.err;
  EXPECT_EQ(content_of(path), before) << "which is still the best";
}

TEST_F(TrainResume, auto_does_not_start_over_if_all_checkpoints_were_set_aside) {
  ASSERT_EQ(train().code, 0);
  const std::string left = run_folder() + "/checkpoints/archived-0101-000000";
  fs::create_directory(left);
  for (const int64_t step : {10, 20}) fs::rename(checkpoint(step), left + "/" + std::to_string(step) + ".h5");
  const Outcome outcome = exits(2, train({"--resume", "auto"}));
  EXPECT_TRUE(says(outcome.err, {"has no checkpoint except those in " + left}));
}

/// The epoch in which the checkpoint was saved, where the run has no step left to do in it.
TEST_F(TrainResume, tells_in_exit_json_where_a_run_without_a_step_ended) {
  const std::string callbacks = "callbacks=[PeriodicTrigger: {callback: ModelSaver, every_k_steps: 5}]";
  ASSERT_EQ(train({"--set", callbacks}).code, 0);
  const auto ended = [&](int64_t step) {
    exits(0, train({"--set", callbacks, "--resume", checkpoint(step), "--until-epoch", "1"}, "again"));
    const auto record = nlohmann::json::parse(content_of(run_folder("again") + "/exit.json"));
    return std::pair(record.at("epoch").get<int64_t>(), record.at("global_step").get<int64_t>());
  };
  EXPECT_EQ(ended(10), std::pair(int64_t{1}, int64_t{10}));
  EXPECT_EQ(ended(15), std::pair(int64_t{2}, int64_t{15}));
}

TEST_F(TrainResume, replaces_a_damaged_checkpoint_of_the_step_that_it_continues_from) {
  ASSERT_EQ(train({}, "other").code, 0);
  ASSERT_EQ(train().code, 0);
  write_content(run_folder() + "/checkpoints/max-x.h5", content_of(checkpoint(20)));
  fs::resize_file(checkpoint(20), 1000);
  ASSERT_EQ(train({"--resume", run_folder() + "/checkpoints/max-x.h5"}).code, 0);
  EXPECT_NO_THROW(verify_checkpoint(checkpoint(20)));
}

TEST_F(TrainResume, does_not_replace_the_config_that_it_is_given) {
  fs::create_directory(run_folder());
  const std::string own = run_folder() + "/config.yaml";
  write_content(own, "# mine\n" + content_of(config()));
  const std::string before = content_of(own);
  const Outcome outcome = exits(2, tpack({"train", own, "--log-dir", run_folder()}));
  EXPECT_TRUE(says(outcome.err, {"would be replaced by the config.yaml of the run folder"}));
  EXPECT_EQ(content_of(own), before);
  EXPECT_EQ(train({"--resume", "never"}).code, 2) << "no folder of a run";
  EXPECT_EQ(content_of(own), before);
}

TEST_F(TrainResume, a_checkpoint_that_does_not_fit_changes_nothing_in_the_run_folder) {
  ASSERT_EQ(train().code, 0);
  const std::string plan = content_of(run_folder() + "/plan.json");
  const std::string done = content_of(run_folder() + "/exit.json");
  const std::string log = content_of(run_folder() + "/log.txt");
  EXPECT_EQ(train({"--resume", "auto", "--set", "seed=9"}).code, 4);
  EXPECT_EQ(content_of(run_folder() + "/plan.json"), plan);
  EXPECT_EQ(content_of(run_folder() + "/exit.json"), done);
  EXPECT_EQ(content_of(run_folder() + "/log.txt"), log);
}

TEST_F(TrainResume, a_run_from_an_older_checkpoint_leaves_the_later_ones_behind) {
  ASSERT_EQ(train({"--set", "callbacks=[ModelSaver: {keep: 10}]"}).code, 0);
  const std::string callbacks = "callbacks=[ModelSaver: {keep: 10}]";
  ASSERT_EQ(train({"--resume", checkpoint(10), "--set", "max_epoch=1", "--set", callbacks}).code, 0);
  EXPECT_FALSE(fs::exists(checkpoint(20)));
  const auto names = names_in(run_folder() + "/checkpoints");
  const auto left =
      std::find_if(names.begin(), names.end(), [](const auto& n) { return n.starts_with("archived-"); });
  ASSERT_NE(left, names.end());
  EXPECT_TRUE(fs::exists(run_folder() + "/checkpoints/" + *left + "/model-20.h5"));
  const Outcome on = train({"--resume", "auto", "--set", callbacks});
  EXPECT_NE(on.err.find("resuming from " + checkpoint(10)), std::string::npos) << on.err;
}

/// The files of the one checkpoints/archived-TIME, by name.
std::map<std::string, std::string> set_aside(const std::string& run_folder) {
  std::map<std::string, std::string> files;
  for (const std::string& name : names_in(run_folder + "/checkpoints")) {
    if (!name.starts_with("archived-")) continue;
    EXPECT_TRUE(files.empty()) << "there are two";
    const std::string folder = run_folder + "/checkpoints/" + name;
    for (const std::string& file : names_in(folder)) files[file] = content_of(folder + "/" + file);
  }
  return files;
}

TEST_F(TrainResume, names_callbacks_that_were_put_in_or_out) {
  const std::string validate = "InferenceRunner: {data: validation}, ";
  const std::string cost = "MinSaver: {monitor: validation_cost}, ";
  const std::string schedule = "ScheduledHyperParamSetter: {param: learning_rate, values: [[1, 0.01]]}, ";
  const auto list = [&](const std::string& savers) {
    return "callbacks=[" + validate + savers + "ModelSaver: {}]";
  };
  ASSERT_EQ(train({"--set", list(schedule)}).code, 0);
  const Outcome more = train({"--resume", "auto", "--set", "max_epoch=3", "--set", list(cost + schedule)});
  ASSERT_EQ(more.code, 0) << more.err;
  EXPECT_NE(more.err.find("callbacks now has MinSaver;"), std::string::npos) << more.err;
  EXPECT_EQ(more.err.find("has the state of callback"), std::string::npos) << more.err;
  const Outcome less = exits(0, train({"--resume", "auto", "--set", "max_epoch=4", "--set", list(cost)}));
  EXPECT_TRUE(says(less.err, {"callbacks no longer has ScheduledHyperParamSetter",
                              "has the state of callback", "it is ignored"}));
}

TEST_F(TrainResume, a_run_from_an_older_checkpoint_overwrites_nothing_of_later_steps) {
  const std::vector<std::string> best = {"--set",
                                         "callbacks=[InferenceRunner: {data: train}, MinSaver: "
                                         "{monitor: train_cost}, ModelSaver: {}]"};
  ASSERT_EQ(train(best).code, 0);
  const std::string path = run_folder() + "/checkpoints/min-train_cost.h5";
  ASSERT_EQ(checkpoint_step(path), 20);
  std::map<std::string, std::string> before;
  for (const char* name : {"config.yaml", "plan.json", "stats.json", "stats.csv"})
    before[name] = content_of(run_folder() + "/" + name);
  for (const std::string& file : {path, checkpoint(20)}) before[fs::path(file).filename()] = content_of(file);
  const Words on = joined(best, {"--resume", checkpoint(10), "--set", "optimizer.Adam.beta1=0.5"});
  ASSERT_EQ(train(on).code, 0);
  EXPECT_EQ(set_aside(run_folder()), before);
  EXPECT_EQ(checkpoint_step(path), 20) << "the best of the new run, though the older best was better or gone";
  EXPECT_NE(content_of(path), before.at("min-train_cost.h5"));
}

TEST_F(TrainResume, a_run_resumed_from_another_folder_overwrites_nothing_of_its_own) {
  const std::vector<std::string> best = {
      "--set",
      "callbacks=[InferenceRunner: {data: validation}, MinSaver: {monitor: validation_cost}, "
      "ModelSaver: {keep: 1}]"};
  ASSERT_EQ(train(best).code, 0);
  Words longer = joined(best, {"--set", "max_epoch=3"});
  ASSERT_EQ(train(longer, "other").code, 0);
  const std::string model = content_of(checkpoint(20));
  const std::string statistics = content_of(run_folder() + "/stats.json");
  longer.back() = "max_epoch=4";
  longer.insert(longer.end(), {"--resume", checkpoint(30, "other")});
  ASSERT_EQ(train(longer).code, 0);
  const auto aside = set_aside(run_folder());
  ASSERT_TRUE(aside.contains("model-20.h5"));
  EXPECT_EQ(aside.at("model-20.h5"), model);
  EXPECT_TRUE(aside.contains("min-validation_cost.h5"));
  EXPECT_EQ(aside.at("stats.json"), statistics);
  EXPECT_TRUE(std::any_of(aside.begin(), aside.end(),
                          [](const auto& file) { return file.first.starts_with("events."); }));
  const std::string of_other = content_of(run_folder("other") + "/stats.json");
  EXPECT_TRUE(content_of(run_folder() + "/stats.json").starts_with(of_other.substr(0, of_other.size() - 3)))
      << "its statistics are those of the branch that it goes on with";
  EXPECT_TRUE(fs::exists(checkpoint(40)));
}

TEST_F(TrainResume, says_what_a_resumed_run_does_not_take_from_its_config) {
  ASSERT_EQ(train().code, 0);
  const Outcome changed = exits(
      0, train({"--resume", "auto", "--set", "max_epoch=3", "--set", "optimizer.Adam.learning_rate=0.5"}));
  EXPECT_TRUE(says(changed.err, {"the config differs from that of"}));
  const Outcome same =
      train({"--resume", "auto", "--set", "max_epoch=4", "--set", "optimizer.Adam.learning_rate=0.5"});
  EXPECT_EQ(same.err.find("differs from that of the checkpoint"), std::string::npos) << same.err;
  const Outcome epochs = train({"--resume", "auto", "--set", "max_epoch=5", "--set", "starting_epoch=5"});
  EXPECT_NE(epochs.err.find("starting_epoch was 1, is 5"), std::string::npos) << epochs.err;
  const std::vector<std::pair<std::string, std::string>> nested = {
      {"model.layers=!append [{Identity: {name: last}}]", "model.layers now has Identity"},
      {"optimizer.Adam.gradient=[{GlobalNormClip: {norm: 1}}]",
       "optimizer.Adam.gradient now has GlobalNormClip"}};
  for (const auto& [change, said] : nested) {
    const Outcome other = train({"--resume", "auto", "--set", "max_epoch=5", "--set", change});
    EXPECT_NE(other.err.find(said), std::string::npos) << other.err;
  }
  const Outcome threads = train({"--resume", "auto", "--set", "max_epoch=6", "--set", "engine.threads=2"});
  EXPECT_NE(threads.err.find("engine.threads was 1, is 2"), std::string::npos) << threads.err;
  const Outcome other = train({"--resume", "auto", "--set", "optimizer={SGD: {learning_rate: 0.5}}"});
  EXPECT_EQ(other.code, 2);
  EXPECT_TRUE(says(other.err, {"made with optimizer Adam", "has optimizer SGD"}));
}

TEST_F(TrainResume, resumes_if_the_optimizer_has_its_other_name) {
  ASSERT_EQ(train({"--set", "optimizer={SGD: {learning_rate: 0.01}}"}).code, 0);
  exits(0, train({"--resume", "auto", "--set", "max_epoch=3", "--set",
                  "optimizer={GradientDescentOptimizer: {learning_rate: 0.01}}"}));
  EXPECT_TRUE(fs::exists(checkpoint(30)));
}

TEST_F(TrainResume, continues_bit_for_bit) {
  ASSERT_EQ(train({"--set", "max_epoch=4"}, "straight").code, 0);
  ASSERT_EQ(train().code, 0);
  const Outcome outcome = exits(0, train({"--resume", "auto", "--set", "max_epoch=4"}));
  EXPECT_NE(outcome.err.find("resuming from " + checkpoint(20)), std::string::npos);
  expect_same_tensors(checkpoint(40), checkpoint(40, "straight"));
}

TEST_F(TrainResume, continues_from_a_file_into_another_folder) {
  ASSERT_EQ(train({"--set", "max_epoch=3"}, "straight").code, 0);
  const Outcome outcome = exits(0, train({"--resume", checkpoint(10, "straight"), "--set", "max_epoch=3"}));
  EXPECT_NE(outcome.err.find("resuming from " + checkpoint(10, "straight")), std::string::npos);
  expect_same_tensors(checkpoint(30), checkpoint(30, "straight"));
}

TEST_F(TrainResume, keeps_the_statistics_of_unsaved_epochs_if_no_epoch_is_left) {
  const std::vector<std::string> rarely = {"--set", "callbacks=[ModelSaver: {every_epochs: 2}]"};
  const auto run = [&](const std::string& epochs, const std::vector<std::string>& more) {
    const Words words = joined(joined(rarely, {"--set", "max_epoch=" + epochs}), more);
    return train(words);
  };
  ASSERT_EQ(run("3", {}).code, 0);
  fs::remove(checkpoint(30));
  const std::string stats = content_of(run_folder() + "/stats.json");
  const Outcome shorter = exits(0, run("1", {"--resume", "auto"}));
  EXPECT_TRUE(says(shorter.err, {"nothing left to do: epoch 2 is"}));
  EXPECT_EQ(content_of(run_folder() + "/stats.json"), stats);
  ASSERT_EQ(run("3", {"--resume", "auto"}).code, 0);
  const Outcome back = run("1", {"--resume", checkpoint(20)});
  EXPECT_NE(back.err.find("nothing left to do"), std::string::npos) << back.err;
  EXPECT_EQ(nlohmann::json::parse(content_of(run_folder() + "/stats.json")).size(), 2U)
      << "those of later checkpoints are with them";
}

/// What the config changes is used, said, and kept with the step from which it holds.
TEST_F(TrainResume, uses_the_numbers_that_its_config_changes) {
  ASSERT_EQ(train().code, 0);
  const auto rate_in = [&](int64_t step) {
    return load_checkpoint(checkpoint(step)).tensors.at("optimizer/learning_rate").at(0);
  };
  EXPECT_EQ(static_cast<float>(rate_in(20)), 0.01F);
  const auto resumed = [&](const std::string& rate, const std::string& epochs) {
    return train({"--resume", "auto", "--set", "optimizer.Adam.learning_rate=" + rate, "--set",
                  "max_epoch=" + epochs});
  };
  const Outcome changed = exits(0, resumed("0.5", "3"));
  EXPECT_NE(changed.err.find("learning_rate was 0.01, is 0.5"), std::string::npos) << changed.err;
  EXPECT_EQ(rate_in(30), 0.5);
  const Outcome same = resumed("0.5", "4");
  EXPECT_EQ(same.err.find("learning_rate was"), std::string::npos) << same.err;
  EXPECT_EQ(rate_in(40), 0.5);
  ASSERT_EQ(resumed("0.25", "5").code, 0);
  const Outcome inspected = tpack({"ckpt", "inspect", checkpoint(50)});
  for (const char* change : {"from global_step 20: optimizer.Adam.learning_rate was 0.01, is 0.5",
                             "from global_step 40: optimizer.Adam.learning_rate was 0.5, is 0.25"})
    EXPECT_NE(inspected.out.find(change), std::string::npos) << inspected.out;
}

TEST_F(TrainResume, keeps_what_a_callback_has_set) {
  const std::vector<std::string> setter = {
      "--set", "callbacks=!append [ScheduledHyperParamSetter: {param: learning_rate, values: [[1, 0.02]]}]"};
  ASSERT_EQ(train(setter).code, 0);
  const Words more = joined(
      setter, {"--resume", "auto", "--set", "max_epoch=3", "--set", "optimizer.Adam.learning_rate=0.5"});
  const Outcome outcome = exits(0, train(more));
  EXPECT_TRUE(says(outcome.err, {"learning_rate stays 0.02, because a callback"}));
  EXPECT_EQ(static_cast<float>(load_checkpoint(checkpoint(30)).tensors.at("optimizer/learning_rate").at(0)),
            0.02F);
  const Outcome inspected = tpack({"ckpt", "inspect", checkpoint(30)});
  for (const char* change : {"from global_step 20: optimizer.Adam.learning_rate was 0.01, is 0.5",
                             "from global_step 20: learning_rate stays 0.02"})
    EXPECT_NE(inspected.out.find(change), std::string::npos) << inspected.out;
}

TEST_F(TrainResume, may_have_a_number_for_a_schedule_and_a_schedule_for_a_number) {
  const auto cosine = [](double step) { return 0.05 * (1 + std::cos(M_PI * step / 40)); };
  int64_t epoch = 0;
  for (const auto& [rate, expected] : {std::pair<std::string, double>{"{Cosine: {start: 0.1}}", cosine(9)},
                                       {"0.5", 0.5},
                                       {"{Cosine: {start: 0.1}}", cosine(29)}}) {
    const std::string until = std::to_string(++epoch);
    exits(0, train({"--resume", "auto", "--set", "max_epoch=4", "--until-epoch", until, "--set",
                    "optimizer.Adam.learning_rate=" + rate}));
    const CheckpointContent content = load_checkpoint(checkpoint(10 * epoch));
    EXPECT_NEAR(content.tensors.at("optimizer/learning_rate").at(0), expected, 1e-6) << until;
  }
}

/// A schedule goes on at the same part of its length.
TEST_F(TrainResume, changes_the_batch_size_at_the_end_of_an_epoch) {
  const auto run = [&](std::vector<std::string> more) {
    more.insert(more.end(),
                {"--set", "max_epoch=4", "--set", "optimizer.Adam.learning_rate={Cosine: {start: 0.1}}"});
    return train(more);
  };
  ASSERT_EQ(run({"--until-epoch", "2"}).code, 0);
  const std::string halves = "data.train.BatchData.batch_size=" + std::to_string(2 * 4);
  exits(0, run({"--resume", "auto", "--until-epoch", "3", "--set", halves}));
  const CheckpointContent content = load_checkpoint(checkpoint(25));
  EXPECT_EQ(content.epoch, 3);
  const double part = (2 * 5 + 4) / 20.0;  // of 4 epochs, the last step of the third
  EXPECT_NEAR(content.tensors.at("optimizer/learning_rate").at(0), 0.05 * (1 + std::cos(M_PI * part)), 1e-6);
  EXPECT_EQ(run({"--resume", "auto", "--set", halves}).code, 0);
  EXPECT_TRUE(fs::exists(checkpoint(30)));
}

TEST_F(TrainResume, keeps_the_batch_size_in_the_middle_of_an_epoch) {
  const std::string callbacks = "callbacks=[PeriodicTrigger: {callback: ModelSaver, every_k_steps: 5}]";
  ASSERT_EQ(train({"--set", callbacks}).code, 0);
  const Outcome outcome = exits(4, train({"--set", callbacks, "--resume", checkpoint(15), "--set",
                                          "data.train.BatchData.batch_size=" + std::to_string(2 * 4)},
                                         "again"));
  EXPECT_TRUE(says(outcome.err, {"in the middle of epoch 2", "--until-epoch 2"}));
}

TEST_F(TrainResume, says_nothing_of_a_rate_that_a_callback_sets) {
  const std::string setter = "ScheduledHyperParamSetter: {param: learning_rate, values: [[1, 0.02]]}";
  int number = 0;
  for (const std::string& callback :
       {setter, "EnableIf: {condition: \"epoch > 0\", callback: {" + setter + "}}"}) {
    const std::string name = "run" + std::to_string(number++);
    const std::vector<std::string> with = {"--set", "callbacks=!append [" + callback + "]"};
    exits(0, train(with, name));
    const Words more = joined(with, {"--resume", "auto", "--set", "max_epoch=3"});
    const Outcome outcome = exits(0, train(more, name));
    EXPECT_EQ(outcome.err.find("learning_rate stays"), std::string::npos) << callback << outcome.err;
  }
}

TEST_F(TrainResume, auto_on_an_empty_folder_starts_afresh) {
  const Outcome outcome = exits(0, train({"--resume", "auto"}));
  EXPECT_EQ(outcome.err.find("resuming"), std::string::npos);
}

TEST_F(TrainResume, auto_leaves_a_damaged_checkpoint_out) {
  ASSERT_EQ(train().code, 0);
  fs::resize_file(checkpoint(20), 1000);
  const Outcome outcome = exits(0, train({"--resume", "auto"}));
  EXPECT_TRUE(says(outcome.err, {"resuming from " + checkpoint(10), "warning: " + checkpoint(20)}));
}

TEST_F(TrainResume, auto_rejects_if_all_are_damaged) {
  ASSERT_EQ(train().code, 0);
  for (const int64_t step : {10, 20}) fs::resize_file(checkpoint(step), 1000);
  const Outcome outcome = exits(4, train({"--resume", "auto"}));
  EXPECT_TRUE(says(outcome.err, {checkpoint(10), checkpoint(20)}));
  EXPECT_TRUE(last_line(outcome.err).starts_with("error: "));
}

TEST_F(TrainResume, continues_with_another_number_of_threads_to_the_same_bits) {
  const auto trained = [&](const std::string& threads, const std::string& epochs, const std::string& name,
                           const std::vector<std::string>& more = {}) {
    // Wide enough for the work to be cut into pieces.
    const Words words = joined({"--set", "engine.threads=" + threads, "--set", "max_epoch=" + epochs, "--set",
                                "model.layers.fc0.units=2000", "--set", "data.train.FakeData.size=640",
                                "--set", "data.train.BatchData.batch_size=64"},
                               more);
    const Outcome outcome = exits(0, train(words, name));
    return outcome.err;
  };
  trained("3", "3", "whole");
  trained("1", "3", "one");
  EXPECT_FALSE(bit_equal(load_checkpoint(checkpoint(30, "whole")).tensors.at("model/fc0/W"),
                         load_checkpoint(checkpoint(30, "one")).tensors.at("model/fc0/W")))
      << "other pieces, other sums";
  trained("3", "2", "run");
  EXPECT_TRUE(says(trained("1", "3", "run", {"--resume", "auto"}), {"resuming from " + checkpoint(20)}));
  expect_same_tensors(checkpoint(30, "whole"), checkpoint(30));
}

TEST_F(TrainResume, names_the_replicas_before_the_plan_that_does_not_fit_them) {
  const std::string towers = "trainer={SyncMultiGPU: {devices: [cpu:0, cpu:1]}}";
  ASSERT_EQ(train({"--set", towers}).code, 0);
  const Outcome alone = exits(4, train({"--resume", "auto", "--set", "max_epoch=4"}));
  EXPECT_TRUE(says(alone.err, {"was made with 2 batches in each", "set accumulate: 2 of the"}));
  EXPECT_EQ(alone.err.find("--replan"), std::string::npos) << alone.err;
}

TEST_F(TrainResume, one_device_goes_on_with_the_samples_of_two_by_accumulation) {
  const std::vector<std::string> towers = {"--set", "trainer={SyncMultiGPU: {devices: 2}}", "--set",
                                           "steps_per_epoch=5"};
  const auto with = [&](std::vector<std::string> words, const std::vector<std::string>& more) {
    words.insert(words.end(), more.begin(), more.end());
    return words;
  };
  ASSERT_EQ(train(with(towers, {"--set", "max_epoch=2"}), "whole").code, 0);
  ASSERT_EQ(train(with(towers, {"--set", "max_epoch=1"})).code, 0);
  exits(0, train({"--resume", "auto", "--set", "trainer={Simple: {accumulate: 2}}", "--set",
                  "steps_per_epoch=5", "--set", "max_epoch=2"}));
  const CheckpointContent whole = load_checkpoint(checkpoint(10, "whole"));
  const CheckpointContent resumed = load_checkpoint(checkpoint(10));
  for (const auto& [name, value] : whole.tensors)
    EXPECT_LT(max_difference(value, resumed.tensors.at(name)), 1e-5) << name;
}

TEST_F(TrainResume, auto_finds_what_a_run_took_up_from_another_folder_before_its_first_save) {
  ASSERT_EQ(train().code, 0);
  ASSERT_EQ(train({"--resume", checkpoint(20)}, "other").code, 0) << "which has nothing left to do";
  EXPECT_EQ(content_of(run_folder("other") + "/stats.csv"), content_of(run_folder() + "/stats.csv"));
  EXPECT_EQ(content_of(checkpoint(20, "other")), content_of(checkpoint(20)));
  const Outcome on = train({"--resume", "auto", "--set", "max_epoch=3"}, "other");
  EXPECT_NE(on.err.find("resuming from " + checkpoint(20, "other")), std::string::npos) << on.err;
}

}  // namespace
}  // namespace tpack
