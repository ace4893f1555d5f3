// Runs the program: run folders, resume, signals, gates, exit codes.
#include "run/train.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <regex>
#include <sys/file.h>

#include <gmock/gmock-matchers.h>
#include <nlohmann/json.hpp>

#include "backend/plan.h"
#include "checkpoint/layout.h"
#include "cpu/onednn/onednn.h"
#include "support/errors.h"
#include "support/tiny_runs.h"

namespace tpack {
namespace {

namespace fs = std::filesystem;
using testing_cli::expect_same_tensors;
using testing_cli::joined;
using testing_cli::last_line;
using testing_cli::Outcome;
using testing_cli::Process;
using testing_cli::program;
using testing_cli::tpack;
using testing_cli::Words;

using Train = testing_cli::WithTinyRuns;

TEST_F(Train, writes_the_run_folder) {
  const Outcome outcome = exits(0, train());
  EXPECT_EQ(outcome.out, "");
  for (const char* name : {"config.yaml", "plan.json", "log.txt", "stats.json", "stats.csv", "exit.json"}) {
    EXPECT_TRUE(fs::exists(run_folder() + "/" + name)) << name;
  }
  EXPECT_TRUE(fs::exists(checkpoint(20)));
  const auto record = nlohmann::json::parse(content_of(run_folder() + "/exit.json"));
  EXPECT_EQ(record.at("exit_code"), 0);
  EXPECT_EQ(record.at("global_step"), 20);
  EXPECT_TRUE(says(outcome.err, {"samples per epoch", "fc0/W"}));
}

TEST_F(Train, trains_the_same_from_the_effective_config) {
  ASSERT_EQ(train().code, 0);
  exits(0, tpack({"train", run_folder() + "/config.yaml", "--log-dir", run_folder("again")}));
  expect_same_tensors(checkpoint(20), checkpoint(20, "again"));
  EXPECT_EQ(content_of(run_folder() + "/config.yaml"), content_of(run_folder("again") + "/config.yaml"));
}

TEST_F(Train, rejects_a_folder_with_checkpoints) {
  ASSERT_EQ(train().code, 0);
  const Outcome outcome = exits(2, train());
  EXPECT_TRUE(
      last_line(outcome.err).starts_with("error: " + run_folder() + ": has checkpoints of an earlier run"));
  EXPECT_NE(outcome.err.find("--resume auto"), std::string::npos);
}

TEST_F(Train, rejects_options_that_a_script_left_empty) {
  for (const char* option : {"--log-dir", "--resume", "--plan"}) {
    const Outcome outcome = tpack({"train", config(), option, ""});
    EXPECT_EQ(outcome.code, 2) << option;
    EXPECT_NE(outcome.err.find(std::string(option) + ": is empty"), std::string::npos) << outcome.err;
  }
}

TEST_F(Train, schedules_no_state_of_an_optimizer) {
  const Outcome outcome = exits(
      2, train({"--set", "callbacks=[ScheduledHyperParamSetter: {param: m_weight, values: [[0, 1000]]}]"}));
  EXPECT_TRUE(says(outcome.err, {"unknown hyper-parameter 'm_weight'", "known: learning_rate"}));
}

TEST_F(Train, never_moves_the_old_content_away) {
  ASSERT_EQ(train().code, 0);
  ASSERT_EQ(train({"--resume", "never", "--set", "max_epoch=1"}).code, 0);
  EXPECT_FALSE(fs::exists(checkpoint(20)));
  const auto names = folder_.names();
  const auto backup =
      std::find_if(names.begin(), names.end(), [](const auto& n) { return n.starts_with("run.bak-"); });
  ASSERT_NE(backup, names.end());
  EXPECT_TRUE(fs::exists(folder_ / *backup + "/checkpoints/model-20.h5"));
}

TEST_F(Train, never_moves_no_folder_of_other_files_away) {
  fs::create_directory(run_folder());
  write_content(run_folder() + "/thesis.txt", "years of work");
  const Outcome outcome = exits(2, train({"--resume", "never"}));
  EXPECT_NE(outcome.err.find("has files, but is not a run folder"), std::string::npos) << outcome.err;
  EXPECT_EQ(content_of(run_folder() + "/thesis.txt"), "years of work");
}

TEST_F(Train, a_wrong_config_changes_nothing_in_the_run_folder) {
  ASSERT_EQ(train().code, 0);
  const std::string before = content_of(run_folder() + "/config.yaml");
  EXPECT_EQ(train({"--resume", "auto", "--set", "model.cost.SoftmaxCrossEntropy.logits=image"}).code, 2);
  const Outcome outcome = exits(2, train({"--resume", "never", "--set", "init={from: nowhere.h5}"}));
  EXPECT_NE(outcome.err.find("'from' of init: no such file"), std::string::npos) << outcome.err;
  const std::string done = content_of(run_folder() + "/exit.json");
  for (const char* resume : {"auto", "never"}) {
    EXPECT_EQ(train({"--resume", resume, "--set", "gates={nothing: \"> 1\"}"}).code, 2);
    EXPECT_EQ(train({"--resume", resume, "--set", "callbacks=[MaxSaver: {monitor: nothing}]"}).code, 2);
  }
  EXPECT_EQ(content_of(run_folder() + "/exit.json"), done);
  EXPECT_EQ(content_of(run_folder() + "/config.yaml"), before);
  EXPECT_TRUE(fs::exists(checkpoint(20)));
}

TEST_F(Train, checkpoints_have_the_entries_that_their_page_names) {
  ASSERT_EQ(train().code, 0);
  const std::string page = content_of(source_folder() + "/docs/checkpoint-format.md");
  const CheckpointContent content = load_checkpoint(checkpoint(20));
  for (const auto& [name, value] : content.tensors)
    EXPECT_THAT(page, testing::HasSubstr("`/" + name.substr(0, name.find('/') + 1)));
  for (const auto& [name, value] : content.texts) {
    const bool of_callback = name.starts_with(layout::kCallbacks);
    EXPECT_THAT(page, testing::HasSubstr("`/" + (of_callback ? layout::kCallbacks + "NAME" : name) + "`"));
  }
}

TEST_F(Train, rejects_a_folder_in_which_another_process_trains) {
  ASSERT_EQ(train().code, 0);
  const int lock = open((run_folder() + "/.lock").c_str(), O_RDWR | O_CLOEXEC);
  ASSERT_EQ(flock(lock, LOCK_EX | LOCK_NB), 0);
  EXPECT_EQ(train({"--resume", "auto"}).code, 5);
  close(lock);
}

TEST_F(Train, saves_and_leaves_at_sigterm) {
  Process process({program(), "train", config(), "--log-dir", run_folder(), "--set", "max_epoch=1000000",
                   "--set", "callbacks=[]"},
                  folder_ / "out");
  ASSERT_TRUE(process.wait_for("Epoch 2 "));
  process.signal(SIGTERM);
  EXPECT_EQ(process.wait(), 143) << process.err();
  EXPECT_TRUE(says(process.err(), {"warning: interrupted by SIGTERM: finishing the step"}));
  EXPECT_TRUE(last_line(process.err())
                  .ends_with("to resume, run: " + program() + " train " + config() + " --log-dir " +
                             run_folder() + " --set max_epoch=1000000 --set 'callbacks=[]' --resume auto"))
      << process.err();
  EXPECT_EQ(exit_code(), 143);
  ASSERT_FALSE(fs::is_empty(run_folder() + "/checkpoints"));
  const int64_t step = nlohmann::json::parse(content_of(run_folder() + "/exit.json")).at("global_step");
  const Outcome resumed = exits(0, train({"--resume", "auto", "--set", "max_epoch=2"}));
  EXPECT_TRUE(says(resumed.err, {"resuming from " + checkpoint(step)}));
}

/// At the end a command runs for as long as the run is there.
TEST_F(Train, ctrl_c_after_another_signal_ends_at_once) {
  Process process(
      {program(), "train", config(), "--log-dir", run_folder(), "--set", "max_epoch=1000000", "--set",
       "callbacks=[ModelSaver, RunCommand: {at: train_end, timeout_s: 900, command: [sh, -c, "
       "'while kill -0 $PPID; do sleep 0.1; done']}]"},
      folder_ / "out");
  ASSERT_TRUE(process.wait_for("Epoch 1 "));
  process.signal(SIGTERM);
  ASSERT_TRUE(process.wait_for("interrupt again to end immediately"));
  process.signal(SIGINT);
  EXPECT_EQ(process.wait(), 130);
  EXPECT_THAT(process.err(), testing::HasSubstr("error: interrupted again: ended immediately"));
}

/// A service manager tells all processes of a service, and those that started others pass it on.
TEST_F(Train, a_signal_that_comes_several_times_is_one_request) {
  Process process({program(), "train", config(), "--log-dir", run_folder(), "--set", "max_epoch=1000000"},
                  folder_ / "out");
  ASSERT_TRUE(process.wait_for("Epoch 1 "));
  for (const int number : {SIGTERM, SIGHUP, SIGTERM}) process.signal(number);
  EXPECT_THAT(process.wait(), testing::AnyOf(128 + SIGTERM, 128 + SIGHUP));
  EXPECT_THAT(process.err(), testing::HasSubstr("training was interrupted, saved "));
}

TEST_F(Train, saves_if_its_terminal_is_closed) {
  Process process({program(), "train", config(), "--log-dir", run_folder(), "--set", "max_epoch=1000000",
                   "--set", "callbacks=[]"},
                  folder_ / "out");
  ASSERT_TRUE(process.wait_for("Epoch 2 "));
  EXPECT_TRUE(says(process.err(), {"--set callbacks: no callback", "add ModelSaver: {} to the"}));
  process.signal(SIGHUP);
  EXPECT_EQ(process.wait(), 129) << process.err();
  const int64_t step = nlohmann::json::parse(content_of(run_folder() + "/exit.json")).at("global_step");
  EXPECT_TRUE(fs::exists(checkpoint(step)));
}

TEST_F(Train, a_missed_gate_is_exit_8) {
  const Outcome outcome = exits(8, train({"--set", "gates={validation_accuracy: \"> 1\"}"}));
  EXPECT_TRUE(last_line(outcome.err).starts_with("error: gate validation_accuracy > 1 is missed: 0."));
  EXPECT_EQ(exit_code(), 8);
  EXPECT_EQ(train({"--set", "gates={validation_accuracy: \">= 0\"}"}, "held").code, 0);
}

TEST_F(Train, a_gate_may_be_for_the_best_value) {
  EXPECT_EQ(train({"--set", "gates={best validation_accuracy: \">= 0\"}"}).code, 0);
  const Outcome missed = exits(8, train({"--set", "gates={best validation_accuracy: \"> 1\"}"}, "missed"));
  EXPECT_TRUE(last_line(missed.err).starts_with("error: gate best validation_accuracy > 1 is missed: 0."));
}

TEST_F(Train, says_that_it_has_no_end) {
  const std::string endless = "no max_epoch: runs until stopped";
  EXPECT_EQ(train().err.find(endless), std::string::npos);
  const Outcome outcome = exits(0, train({"--set", "max_epoch=!delete", "--set",
                                          "callbacks=[EarlyStop: {monitor: cost, patience: 1, "
                                          "min_delta: 1.0e+9}]"},
                                         "endless"));
  EXPECT_NE(outcome.err.find(endless), std::string::npos) << outcome.err;
}

TEST_F(Train, a_diverged_run_is_exit_6) {
  exits(6, train({"--set", "optimizer={SGD: {learning_rate: 1.0e+30}}", "--set",
                  "callbacks=[{CheckNumerics: {run_step: true}}]"}));
  const auto record = nlohmann::json::parse(content_of(run_folder() + "/exit.json"));
  EXPECT_EQ(record.at("exit_code"), 6);
  EXPECT_EQ(record.at("epoch"), 1);
  EXPECT_GE(record.at("global_step"), 1);
}

TEST_F(Train, each_epoch_says_how_fast_it_was_and_how_long_it_waited) {
  const Outcome outcome = exits(0, train());
  for (const char* epoch : {"Epoch 1 .global_step 10.", "Epoch 2 .global_step 20."}) {
    const std::regex line(
        std::string(epoch) +
        " finished, [0-9.]+ [mu]?s, [0-9,]+ samples/s, [0-9]+[.][0-9] % waiting for data\n");
    EXPECT_TRUE(std::regex_search(outcome.err, line)) << outcome.err;
  }
}

TEST_F(Train, absent_data_are_exit_3) {
  const std::string absent =
      "data.train=[{Mnist: {dir: " + folder_.str() + "}}, {BatchData: {batch_size: 4}}]";
  exits(3, train({"--set", absent, "--set", "model.inputs.image.shape=[28, 28, 1]", "--set",
                  "model.layers.fc.units=10"}));
  EXPECT_EQ(exit_code(), 3);
  const Outcome both = train({"--set", absent}, "both");
  EXPECT_EQ(both.code, 2) << "what is wrong with the config is told, too";
  EXPECT_TRUE(says(both.err, {"dataset mnist: ", "write shape: [28, 28, 1]"}));
}

TEST_F(Train, a_wrong_config_is_exit_2_with_every_mistake) {
  const Outcome outcome = exits(2, train({"--set", "seed=-1", "--set", "optimizer.Adam.learning_rat=1"}));
  EXPECT_TRUE(says(outcome.err, {"--set optimizer.Adam.learning_rat", "did you mean 'learning_rate'?",
                                 "--set seed: 'seed' of the", "must be at least 0"}));
  EXPECT_FALSE(fs::exists(run_folder()));
}

TEST_F(Train, a_folder_that_cannot_be_made_is_exit_5) {
  write_content(folder_ / "file", "");
  EXPECT_EQ(train({}, "file/run").code, 5);
}

TEST_F(Train, takes_the_plan_of_a_file) {
  ASSERT_EQ(train().code, 0);
  const std::string plan = run_folder() + "/plan.json";
  ASSERT_EQ(train({"--plan", plan}, "again").code, 0);
  EXPECT_EQ(content_of(plan), content_of(run_folder("again") + "/plan.json"));
  write_content(folder_ / "broken.json", "{");
  EXPECT_EQ(train({"--plan", folder_ / "broken.json"}, "third").code, 2);
  write_content(folder_ / "empty.json", R"({"tpack_plan": 2, "cpu": "", "sections": {}})");
  const Outcome empty = exits(0, train({"--plan", folder_ / "empty.json"}, "fourth"));
  EXPECT_NE(empty.err.find("empty.json: this plan is empty"), std::string::npos) << empty.err;
}

TEST_F(Train, a_plan_of_another_network_is_exit_2) {
  ASSERT_EQ(train().code, 0);
  Plan plan = Plan::from_json(content_of(run_folder() + "/plan.json"), "plan.json");
  EXPECT_NE(plan.hardware, "");
  for (auto& [name, section] : plan.sections) section.nodes["conv9/Convolution"] = {"nhwc", "direct"};
  write_content(folder_ / "other.json", plan.to_json());
  const Outcome rejected = exits(2, train({"--plan", folder_ / "other.json"}, "again"));
  EXPECT_NE(rejected.err.find("error: " + (folder_ / "other.json") + ": section '"), std::string::npos);
  EXPECT_TRUE(says(rejected.err, {"names node conv9/Convolution", "remove --plan to plan again"}));
  EXPECT_EQ(train({"--plan", folder_ / "other.json", "--replan"}, "third").code, 2);
}

/// As after an update of tpack, or with another `freeze`.
TEST_F(Train, plans_again_where_the_plan_of_a_checkpoint_does_not_fit) {
  ASSERT_EQ(train({"--set", "max_epoch=1"}).code, 0);
  CheckpointContent content = load_checkpoint(checkpoint(10));
  Plan plan = Plan::from_json(content.texts.at(layout::kPlan), "plan");
  for (auto& [name, section] : plan.sections) section.nodes["conv9/Convolution"] = {"nhwc", "direct"};
  for (const std::string& text : {plan.to_json(), std::string(R"({"tpack_plan": 1})")}) {
    content.texts[layout::kPlan] = text;
    save_checkpoint(checkpoint(10), content);
    const Outcome outcome = exits(0, train({"--resume", checkpoint(10), "--set", "max_epoch=2"}, "again"));
    EXPECT_TRUE(says(outcome.err, {"it is planned again, so the last"}));
    std::filesystem::remove_all(run_folder("again"));
  }
}

TEST_F(Train, begins_with_the_weights_of_init) {
  ASSERT_EQ(train().code, 0);
  const Outcome outcome = train({"--set", "init={from: " + checkpoint(20) + ", exclude: [\"fc/.*\", gone]}",
                                 "--set", "optimizer.Adam.learning_rate=0", "--set", "max_epoch=1"},
                                "next");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const CheckpointContent from = load_checkpoint(checkpoint(20));
  const CheckpointContent to = load_checkpoint(checkpoint(10, "next"));
  EXPECT_TRUE(bit_equal(from.tensors.at("model/fc0/W"), to.tensors.at("model/fc0/W")));
  EXPECT_FALSE(bit_equal(from.tensors.at("model/fc/W"), to.tensors.at("model/fc/W")));
  EXPECT_TRUE(says(outcome.err, {"2 variables loaded", "'gone' or is below it"}));
  EXPECT_EQ(outcome.err.find("keep their random"), std::string::npos) << outcome.err;
}

/// Later files overwrite earlier ones.
TEST_F(Train, begins_with_the_weights_of_several_files_in_order) {
  ASSERT_EQ(train().code, 0);
  const std::string all = "{from: " + checkpoint(20) + "}";
  const std::string head = "{from: " + checkpoint(10) + ", include: [fc]}";
  const CheckpointContent late = load_checkpoint(checkpoint(20));
  const CheckpointContent early = load_checkpoint(checkpoint(10));
  ASSERT_FALSE(bit_equal(late.tensors.at("model/fc/W"), early.tensors.at("model/fc/W")));
  for (const bool head_is_last : {true, false}) {
    const std::string name = head_is_last ? "next" : "other";
    const std::string order = head_is_last ? all + ", " + head : head + ", " + all;
    const Outcome outcome = exits(0, train({"--set", "init=[" + order + "]", "--set",
                                            "optimizer.Adam.learning_rate=0", "--set", "max_epoch=1"},
                                           name));
    const CheckpointContent to = load_checkpoint(checkpoint(10, name));
    EXPECT_TRUE(bit_equal(late.tensors.at("model/fc0/W"), to.tensors.at("model/fc0/W")));
    const CheckpointContent& from = head_is_last ? early : late;
    EXPECT_TRUE(bit_equal(from.tensors.at("model/fc/W"), to.tensors.at("model/fc/W"))) << order;
    EXPECT_TRUE(says(outcome.err, {checkpoint(20) + ": 4 variables loaded",
                                   checkpoint(10) + ": 2 variables loaded, 2 left out"}));
    EXPECT_EQ(outcome.err.find("missing in the file"), std::string::npos) << outcome.err;
  }
}

TEST_F(Train, rejects_a_file_of_init_of_which_nothing_fits) {
  ASSERT_EQ(train().code, 0);
  write_content(folder_ / "two.yaml", "include: tiny.yaml\ninit:\n  - from: " + checkpoint(20) +
                                          "\n  - from: " + checkpoint(10) +
                                          "\n    rename: {\"(.*)\": \"x/$1\"}\n");
  const Outcome outcome = exits(2, tpack({"train", folder_ / "two.yaml", "--log-dir", run_folder("next")}));
  EXPECT_TRUE(says(outcome.err, {"two.yaml:4:11: init: no variable fits"}));
}

TEST_F(Train, warns_of_frozen_variables_of_which_init_has_no_value) {
  ASSERT_EQ(train().code, 0);
  const Outcome outcome = exits(0, train({"--set", "init={from: " + checkpoint(20) + ", exclude: [fc0]}",
                                          "--set", "freeze=[fc0]", "--set", "max_epoch=1"},
                                         "next"));
  EXPECT_TRUE(says(outcome.err, {"warning: freeze: fc0/W, fc0/b keep"}));
}

/// Why this machine or build cannot start ranks; nothing if it can.
std::optional<std::string> no_ranks() {
  if (TPACK_HAS_MPI == 0) return "built without MPI";
  if (std::system("command -v mpirun >/dev/null 2>&1") != 0) return "no mpirun";
  return std::nullopt;
}

/// Runs `mpirun -n 2 tpack train ...`. If `other` is given, rank 1 gets these words instead of `more`, and
/// `before` precedes its program.
Outcome train_on_two_ranks(const TemporaryFolder& folder, const std::vector<std::string>& more,
                           const std::vector<std::string>& other = {}, const Words& before = {}) {
  setenv("OMPI_ALLOW_RUN_AS_ROOT", "1", 1);
  setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1", 1);
  const std::vector<std::string> train = {program(), "train", folder / "tiny.yaml", "--log-dir",
                                          folder / "ranks"};
  Words words = joined(joined({"mpirun", "--oversubscribe", "-n", other.empty() ? "2" : "1"}, train), more);
  if (!other.empty()) {
    words = joined(joined(joined(joined(words, {":", "-n", "1"}), before), train), other);
  }
  Process process(words, folder / "out");
  Outcome outcome;
  outcome.code = process.wait();
  outcome.err = process.err();
  return outcome;
}

TEST_F(Train, two_ranks_write_one_folder) {
  if (const auto why = no_ranks()) GTEST_SKIP() << *why;
  const Outcome outcome = exits(0, train_on_two_ranks(folder_, {"--set", "trainer=Horovod"}));
  EXPECT_NE(outcome.err.find("[rank 1] "), std::string::npos);
  EXPECT_TRUE(fs::exists(checkpoint(10, "ranks"))) << "40 samples in batches of 4 on 2 ranks";
  EXPECT_EQ(exit_code("ranks"), 0);
}

TEST_F(Train, ranks_with_different_configs_or_plans_are_rejected_before_anything_is_written) {
  if (const auto why = no_ranks()) GTEST_SKIP() << *why;
  ASSERT_EQ(train().code, 0);
  const std::vector<std::string> plain = {"--set", "trainer=Horovod"};
  const Words seeded = joined(plain, {"--set", "seed=2"});
  const Words planned = joined(plain, {"--plan", run_folder() + "/plan.json"});
  for (const auto& [other, what] : {std::pair{seeded, "config"}, std::pair{planned, "plan"}}) {
    const Outcome outcome = exits(7, train_on_two_ranks(folder_, plain, other));
    EXPECT_TRUE(says(outcome.err, {std::string("rank 1 has a different ") + what + " than rank 0"}));
    EXPECT_FALSE(fs::exists(run_folder("ranks") + "/config.yaml"));
  }
}

TEST_F(Train, ranks_on_unlike_processors_are_rejected_in_bf16_only) {
  if (const auto why = no_ranks()) GTEST_SKIP() << *why;
  if (!cpu::has_products_of(DType::kBFloat16)) GTEST_SKIP() << "this CPU has no AVX512-BF16";
  const Words older = {"env", "ONEDNN_MAX_CPU_ISA=AVX2"};
  const Words fp32 = {"--set", "trainer=Horovod"};
  const Words bf16 = joined(fp32, {"--precision", "bf16"});
  const Outcome outcome = exits(7, train_on_two_ranks(folder_, bf16, bf16, older));
  EXPECT_TRUE(says(outcome.err, {"the processor of rank 0 computes in bfloat16, that of rank 1 cannot",
                                 "--precision fp32"}));
  EXPECT_FALSE(fs::exists(run_folder("ranks") + "/config.yaml"));
  exits(0, train_on_two_ranks(folder_, fp32, fp32, older));
}

TEST_F(Train, an_error_ends_all_ranks) {
  if (const auto why = no_ranks()) GTEST_SKIP() << *why;
  const Outcome outcome = exits(2, train_on_two_ranks(folder_, {}));
  EXPECT_TRUE(says(outcome.err, {"this trainer uses one; use trainer: {Horovod: {}}"}));
}

TEST_F(Train, the_length_of_an_epoch_does_not_change_the_weights) {
  ASSERT_EQ(train({"--set", "max_epoch=3"}, "data").code, 0);
  ASSERT_EQ(train({"--set", "steps_per_epoch=15"}, "steps").code, 0);
  expect_same_tensors(checkpoint(30, "data"), checkpoint(30, "steps"));
}

}  // namespace
}  // namespace tpack
