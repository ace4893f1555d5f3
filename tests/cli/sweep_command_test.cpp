// Runs sweeps of the tiny config.
#include <filesystem>
#include <optional>
#include <sched.h>

#include <gmock/gmock-matchers.h>
#include <nlohmann/json.hpp>

#include "monitor/stats_json.h"
#include "run/folder_lock.h"
#include "support/program_runner.h"
#include "system/machine.h"

namespace tpack {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing_cli::last_line;
using testing_cli::Outcome;
using testing_cli::Process;
using testing_cli::program;
using testing_cli::tpack;

class Sweep : public testing_cli::WithTinyConfig {
 protected:
  std::string sweep_folder() const { return folder_ / "sweep"; }
  std::vector<std::string> words(const std::vector<std::string>& more) const {
    std::vector<std::string> all = {"sweep", config(), "--log-dir", sweep_folder()};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
  Outcome sweep(const std::vector<std::string>& more) const { return tpack(words(more)); }
  json record() const { return json::parse(content_of(sweep_folder() + "/sweep.json")); }
  std::vector<std::string> states() const {
    std::vector<std::string> all;
    const json now = record();
    for (const json& run : now.at("runs")) all.push_back(run.at("state"));
    return all;
  }
  std::string run_folder(const std::string& name) const { return sweep_folder() + "/" + name; }
  int64_t epochs_of(const std::string& name) const {
    return read_stats_json(run_folder(name) + "/stats.json")->back().at.epoch;
  }
};

TEST_F(Sweep, trains_every_combination_and_ranks_the_runs) {
  const Outcome outcome = sweep({"--set", "optimizer.Adam.learning_rate=[1e-2, 1e-9]", "--set",
                                 "model.layers.fc0.units=[4, 5]", "--jobs", "2"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("rank  run  learning_rate  units  best validation_cost"));
  EXPECT_THAT(states(), ElementsAre("finished", "finished", "finished", "finished"));
  const json effective =
      json::parse(tpack({"config", run_folder("003-learning_rate=1e-9,units=5/config.yaml"), "--json"}).out);
  EXPECT_EQ(effective.at("optimizer").at("Adam").at("learning_rate"), 1e-9);
  EXPECT_EQ(effective.at("model").at("layers")[1].at("FullyConnected").at("units"), 5);
  EXPECT_EQ(epochs_of("000-learning_rate=1e-2,units=4"), 2);
  const std::string csv = content_of(sweep_folder() + "/sweep.csv");
  EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 5);
  EXPECT_THAT(
      csv, HasSubstr("rank,run,optimizer.Adam.learning_rate,model.layers.fc0.units,best_validation_cost,"));
}

TEST_F(Sweep, rejects_more_towers_than_a_run_has_processors) {
  const auto processors = std::to_string(available_processors());
  if (processors == "1") GTEST_SKIP() << "this machine gives one processor";
  const Outcome outcome = sweep({"--set", "seed=[5, 6]", "--jobs", "2", "--dry-run", "--set",
                                 "trainer={SyncMultiGPU: {devices: " + processors + "}}"});
  EXPECT_EQ(outcome.code, 2) << outcome.out;
  EXPECT_THAT(outcome.err,
              HasSubstr("error: --jobs 2: the run with seed=5, trainer={SyncMultiGPU: {devices: " +
                        processors + "}} has " + processors + " towers, but each of 2 parallel runs"));
}

TEST_F(Sweep, a_run_is_what_train_gives_with_its_settings) {
  ASSERT_EQ(sweep({"--set", "seed=[5, 6]"}).code, 0);
  ASSERT_EQ(tpack({"train", config(), "--log-dir", folder_ / "alone", "--set", "seed=6"}).code, 0);
  const auto value = [](const std::string& folder) {
    const auto records = read_stats_json(folder + "/stats.json");
    for (const auto& [name, number] : records->back().scalars)
      if (name == "validation_cost") return number;
    return -1.0;
  };
  EXPECT_EQ(value(run_folder("001-seed=6")), value(folder_ / "alone"));
  EXPECT_NE(value(run_folder("000-seed=5")), value(folder_ / "alone"));
}

TEST_F(Sweep, of_which_no_run_meets_its_gate_is_exit_8) {
  const std::vector<std::string> impossible = {"--set", "seed=[5, 6]", "--set",
                                               "gates={validation_cost: \"< 0\"}"};
  const Outcome outcome = sweep(impossible);
  EXPECT_EQ(outcome.code, 8) << outcome.err;
  EXPECT_THAT(states(), ElementsAre("gate missed", "gate missed"));
  EXPECT_THAT(last_line(outcome.err),
              HasSubstr("error: no run met its gates; 000-seed=5: gate validation_cost < 0"));
  EXPECT_EQ(sweep(impossible).code, 8) << "also if nothing is trained again";
}

TEST_F(Sweep, a_finished_one_trains_nothing_again) {
  ASSERT_EQ(sweep({"--set", "seed=[5, 6]"}).code, 0);
  const std::string log = content_of(run_folder("000-seed=5") + "/log.txt");
  const Outcome again = sweep({"--set", "seed=[5, 6]"});
  EXPECT_EQ(again.code, 0);
  EXPECT_THAT(again.err, Not(HasSubstr("started")));
  EXPECT_EQ(content_of(run_folder("000-seed=5") + "/log.txt"), log);
}

TEST_F(Sweep, a_run_that_fails_does_not_end_the_others) {
  const std::vector<std::string> options = {"--set", "optimizer.Adam.learning_rate=[1e38, 1e-3]", "--set",
                                            "callbacks=!append [CheckNumerics]"};
  const Outcome outcome = sweep(options);
  EXPECT_EQ(outcome.code, 9) << outcome.err;
  EXPECT_THAT(states(), ElementsAre("failed", "finished"));
  EXPECT_EQ(record().at("runs")[0].at("exit_code"), 6);
  EXPECT_THAT(last_line(outcome.err), HasSubstr("error: 1 of 2 runs failed (000-learning_rate=1e38: "));
  EXPECT_THAT(content_of(sweep_folder() + "/sweep.csv"), HasSubstr("failed"));
  const Outcome again = sweep(options);
  EXPECT_EQ(again.code, 9);
  EXPECT_THAT(again.err, Not(HasSubstr("started"))) << "it would fail again";
  std::vector<std::string> retry = options;
  retry.emplace_back("--retry-failed");
  EXPECT_THAT(sweep(retry).err, HasSubstr("run 000-learning_rate=1e38 started"));
}

/// Nobody can wait for a process whose SIGCHLD is ignored.
TEST_F(Sweep, learns_how_runs_end_if_its_parent_ignores_their_ends) {
  std::vector<std::string> line = words(
      {"--set", "optimizer.Adam.learning_rate=[1e38, 1e-3]", "--set", "callbacks=!append [CheckNumerics]"});
  line.insert(line.begin(), {"env", "--ignore-signal=CHLD", program()});
  Process process(line, folder_ / "out");
  EXPECT_EQ(process.wait(), 9) << process.err();
  EXPECT_THAT(states(), ElementsAre("failed", "finished"));
}

/// That of a sweep that was killed finishes its step and saves before it ends.
TEST_F(Sweep, waits_for_a_run_that_still_trains) {
  // More than both runs have time for.
  std::vector<std::string> line = words({"--set", "seed=[1, 2]", "--set", "max_epoch=1000000"});
  line.insert(line.begin(), program());
  {
    Process process(line, folder_ / "out");
    ASSERT_TRUE(process.wait_for("run 000-seed=1 started"));
    process.signal(SIGTERM);
    ASSERT_EQ(process.wait(), 143) << process.err();
  }
  std::optional<FolderLock> trains(std::in_place, run_folder("000-seed=1"), "another process trains");
  Process process(line, folder_ / "out");
  ASSERT_TRUE(process.wait_for("run 000-seed=1 waits: another process still trains in ")) << process.err();
  trains.reset();
  EXPECT_TRUE(process.wait_for("run 000-seed=1 started")) << process.err();
  process.signal(SIGTERM);
  EXPECT_EQ(process.wait(), 143) << process.err();
}

TEST_F(Sweep, halving_continues_the_best_runs) {
  const Outcome outcome =
      sweep({"--set", "optimizer.Adam.learning_rate=[1e-7, 1e-2, 1e-6]", "--set", "max_epoch=4", "--set",
             "model.layers.Dropout=!delete", "--search", "halving", "--eta", "3"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(states(), testing::UnorderedElementsAre("finished", "stopped", "stopped"));
  const json runs = record().at("runs");
  double best = 1e9;
  for (const json& run : runs) best = std::min(best, run.at("scores")[0].get<double>());
  for (const json& run : runs) {
    const bool is_best = run.at("scores")[0] == best;
    EXPECT_EQ(run.at("state"), is_best ? "finished" : "stopped");
    EXPECT_EQ(epochs_of(run.at("name")), is_best ? 4 : 1);
    if (is_best) {
      EXPECT_THAT(content_of(run_folder(run.at("name")) + "/log.txt"), HasSubstr("resuming from"));
    }
  }
}

TEST_F(Sweep, is_interrupted_and_continued) {
  const std::vector<std::string> options = {"--set",        "seed=[1, 2, 3]", "--set",
                                            "max_epoch=40", "--jobs",         "2"};
  std::vector<std::string> line = words(options);
  line.insert(line.begin(), program());
  Process process(line, folder_ / "out");
  ASSERT_TRUE(process.wait_for("run 001-seed=2 started"));
  process.signal(SIGTERM);
  EXPECT_EQ(process.wait(), 143) << process.err();
  EXPECT_THAT(process.err(), HasSubstr("to continue the sweep, run the same command again"));
  EXPECT_THAT(states(), testing::Contains("waiting"));
  const Outcome rest = sweep(options);
  EXPECT_EQ(rest.code, 0) << rest.err;
  EXPECT_THAT(states(), ElementsAre("finished", "finished", "finished"));
  for (const char* name : {"000-seed=1", "001-seed=2", "002-seed=3"}) EXPECT_EQ(epochs_of(name), 40) << name;
}

TEST_F(Sweep, its_runs_end_with_it) {
  std::vector<std::string> line = words({"--set", "seed=[1, 2]", "--set", "max_epoch=100000"});
  line.insert(line.begin(), program());
  std::string run;
  {
    Process process(line, folder_ / "out");
    ASSERT_TRUE(process.wait_for("run 000-seed=1 started"));
    const std::string children =
        "/proc/" + std::to_string(process.pid()) + "/task/" + std::to_string(process.pid()) + "/children";
    run = content_of(children);
    ASSERT_FALSE(run.empty());
  }  // killed
  const std::string process_folder = "/proc/" + std::to_string(std::stoi(run));
  while (std::filesystem::exists(process_folder) &&
         content_of(process_folder + "/cmdline").find("tpack") != std::string::npos)
    sched_yield();
  EXPECT_THAT(states(), ElementsAre("running", "waiting"));
}

TEST_F(Sweep, another_search_in_the_folder_is_rejected) {
  ASSERT_EQ(sweep({"--set", "seed=[1, 2]"}).code, 0);
  const Outcome other = sweep({"--set", "seed=[1, 3]"});
  EXPECT_EQ(other.code, 2);
  EXPECT_THAT(last_line(other.err), HasSubstr("sweep.json: belongs to another search: --set 'seed=[1, 2]' is "
                                              "missing; --set 'seed=[1, 3]' is added"));
  std::string changed = testing_cli::kTinyConfig;
  changed.replace(changed.find("rate: 0.2"), 9, "rate: 0.3");
  write_content(config(), changed);
  EXPECT_THAT(last_line(sweep({"--set", "seed=[1, 2]"}).err), HasSubstr("Dropout.rate was 0.2, is 0.3"));
  std::filesystem::remove(sweep_folder() + "/sweep.json");
  EXPECT_THAT(last_line(sweep({"--set", "seed=[1, 2]"}).err), HasSubstr("has files, but no sweep.json"));
}

TEST_F(Sweep, random_search_can_be_extended) {
  const std::vector<std::string> options = {"--set", "optimizer.Adam.learning_rate=[1e-5..1e-2 log]",
                                            "--search", "random", "--trials"};
  std::vector<std::string> two = options;
  two.emplace_back("2");
  std::vector<std::string> three = options;
  three.emplace_back("3");
  ASSERT_EQ(sweep(two).code, 0);
  const json first = record().at("runs");
  const Outcome more = sweep(three);
  ASSERT_EQ(more.code, 0) << more.err;
  ASSERT_EQ(record().at("runs").size(), 3U);
  EXPECT_EQ(record().at("runs")[0], first[0]);
  EXPECT_EQ(record().at("runs")[1], first[1]);
}

TEST_F(Sweep, a_mistake_of_any_run_is_found_before_the_first_begins) {
  const Outcome outcome = sweep({"--set", "model.layers.fc0.units=[4, 0, -1]"});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_THAT(outcome.err, HasSubstr("--set model.layers.fc0.units: 'units' of layer FullyConnected is 0"));
  EXPECT_THAT(outcome.err, HasSubstr("'units' of layer FullyConnected is -1"));
  EXPECT_FALSE(std::filesystem::exists(sweep_folder()));
  EXPECT_THAT(sweep({"--set", "seed=3"}).err, HasSubstr("nothing to search"));
  EXPECT_THAT(sweep({"--set", "seed=[1..9]", "--search", "random"}).err, HasSubstr("add --trials N"));
  EXPECT_THAT(sweep({"--set", "seed=[1, 2]", "--trials", "2"}).err, HasSubstr("--trials: a grid has"));
  EXPECT_THAT(sweep({"--set", "seed=[1, 2]", "--metric", "validation_acc"}).err,
              HasSubstr("did you mean 'validation_accuracy'?"));
}

TEST_F(Sweep, halving_needs_epochs_and_checkpoints) {
  EXPECT_THAT(sweep({"--set", "seed=[1, 2]", "--search", "halving", "--set", "max_epoch=1"}).err,
              HasSubstr("no run could be stopped early"));
  EXPECT_THAT(
      sweep({"--set", "max_epoch=[2, 3]", "--search", "halving"}).err,
      HasSubstr(
          "the run with max_epoch=3 has 3 epochs, but the first one has 2; all need the same max_epoch"));
  EXPECT_THAT(sweep({"--set", "seed=[1, 2]", "--search", "halving", "--set", "max_epoch=!delete"}).err,
              HasSubstr("max_epoch, which the config does not set; add --set max_epoch=N"));
  EXPECT_THAT(
      sweep({"--set", "seed=[1, 2]", "--search", "halving", "--set", "callbacks.ModelSaver=!delete"}).err,
      HasSubstr("saves no checkpoints to continue from; add ModelSaver"));
}

TEST_F(Sweep, a_dry_run_lists_the_runs) {
  const Outcome outcome = sweep({"--set", "seed=[1, 2]", "--dry-run"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(outcome.out,
            "run  seed      folder\n"
            "---  ----  ----------\n"
            "000     1  000-seed=1\n"
            "001     2  001-seed=2\n");
  EXPECT_FALSE(std::filesystem::exists(sweep_folder()));
}

}  // namespace
}  // namespace tpack
