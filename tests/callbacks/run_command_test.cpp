#include <gmock/gmock.h>

#include "callbacks/give_scalar.h"
#include "config/yaml_reader.h"
#include "support/captured_log.h"
#include "support/live_fields.h"
#include "support/temporary_folder.h"

namespace tpack {
namespace {

using testing::HasSubstr;

/// A run of two epochs of two steps in a folder.
class RunCommandTest : public testing::Test {
 protected:
  std::string run(const std::string& params) {
    FakeTrainer trainer;
    trainer.data_ends_after = data_ends_after_;
    trainer.on_step = [&](int64_t step) {
      if (step == fails_at_) throw DataError("no data");
    };
    TestRun run({.max_epoch = 2, .steps_per_epoch = 2}, trainer);
    run.options.folder = folder_.str();
    run.add("give", std::make_unique<GiveScalar>("accuracy", std::vector<double>{0.5, 0.75}));
    run.add("RunCommand", parse_yaml(params, "r.yaml"));
    try {
      run.go();
    } catch (const Error& error) {
      return error.what();
    }
    return "no error";
  }
  /// A command that adds a line to the file "out".
  std::string adds(const std::string& text, const std::string& more = "") const {
    return "{command: [sh, -c, 'echo \"$0\" >> \"$1\"', \"" + text + "\", \"{folder}/out\"]" + more + "}";
  }
  std::string out() const { return content_of(folder_ / "out"); }

  TemporaryFolder folder_;
  int64_t data_ends_after_ = -1;
  int64_t fails_at_ = -1;
};

TEST_F(RunCommandTest, runs_after_each_epoch_with_the_newest_values) {
  EXPECT_EQ(run(adds("{epoch} {step} {accuracy} {{x}}")), "no error");
  EXPECT_EQ(out(), "1 2 0.5 {x}\n2 4 0.75 {x}\n");
}

TEST_F(RunCommandTest, says_before_the_run_that_there_is_no_such_program) {
  const CapturedLog log;
  EXPECT_EQ(run("{command: [no_such_program_1], at: train_end}"), "no error");
  EXPECT_THAT(log.text(),
              testing::StartsWith("warning: callback RunCommand: program 'no_such_program_1' not found\n"));
  run("{command: [sh, -c, exit], at: train_end}");
  EXPECT_THAT(log.text(), testing::Not(HasSubstr("no program 'sh'")));
}

TEST_F(RunCommandTest, runs_before_training) {
  EXPECT_EQ(run(adds("{epoch} {step} {accuracy}", ", at: train_begin")), "no error");
  EXPECT_EQ(out(), "0 0 none\n");
}

TEST_F(RunCommandTest, runs_at_the_end_whatever_it_is) {
  EXPECT_EQ(run(adds("{step} {ended_well}", ", at: train_end")), "no error");
  fails_at_ = 3;
  EXPECT_EQ(run(adds("{step} {ended_well}", ", at: train_end")), "no data");
  EXPECT_EQ(out(), "4 true\n3 false\n");
}

TEST_F(RunCommandTest, logs_the_exit_code_and_goes_on) {
  const CapturedLog log;
  EXPECT_EQ(run("{command: [sh, -c, exit 4]}"), "no error");
  EXPECT_THAT(log.text(), HasSubstr("warning: callback RunCommand: 'sh -c exit 4': exit code 4\n"));
}

TEST_F(RunCommandTest, a_failure_can_stop_the_run) {
  EXPECT_EQ(run("{command: [sh, -c, exit 4], on_error: stop}"), "callback RunCommand: 'sh -c exit 4' failed");
}

TEST_F(RunCommandTest, ends_what_takes_too_long) {
  const CapturedLog log;
  EXPECT_EQ(run("{command: [sleep, \"1000\"], timeout_s: 0.05, at: train_end}"), "no error");
  EXPECT_THAT(log.text(), HasSubstr("'sleep 1000': ended after the time limit\n"));
}

TEST_F(RunCommandTest, rejects_unknown_names) {
  EXPECT_EQ(run("{command: [echo, \"{acuracy}\"]}"),
            "callback RunCommand: unknown statistic 'acuracy'; did you mean 'accuracy'?");
}

std::string log_of_command(const std::string& item) {
  const CapturedLog log;
  FakeTrainer trainer;
  TestRun run({.max_epoch = 2, .steps_per_epoch = 1}, trainer);
  run.add("x", Registry<Callback>::make_item(parse_yaml(item, "r.yaml")));
  std::string error;
  try {
    run.go();
  } catch (const ResourceError& failure) {
    error = failure.what();
  }
  std::string said;
  for (const std::string& line : split(log.text(), '\n')) {
    const size_t at = line.find("callback RunCommand");
    if (at != std::string::npos) said += line.substr(at) + "\n";
  }
  return said + error;
}
const live::Fields kRunCommand("callback", "RunCommand",
                               {.base = "{command: [sh, -c, \"sleep 0.1; exit 1\", \"{epoch}\"]}",
                                .values = {{"command", "[\"true\"]"}, {"timeout_s", "0.01"}},
                                .build = log_of_command});

}  // namespace
}  // namespace tpack
