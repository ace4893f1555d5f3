#include <gmock/gmock-matchers.h>

#include "callbacks/give_scalar.h"
#include "config/yaml_reader.h"
#include "support/captured_log.h"
#include "support/errors.h"
#include "support/live_fields.h"
#include "support/temporary_folder.h"

namespace tpack {
namespace {

using testing::HasSubstr;

/// A run of two epochs of two steps in a folder.
class RunCommandTest : public testing::Test {
 protected:
  std::string run(const std::string& params) {
    FakeRun run({.max_epoch = 2, .steps_per_epoch = 2});
    run.trainer.data_ends_after = data_ends_after_;
    run.trainer.on_step = [&](int64_t step) {
      if (step == fails_at_) throw DataError("no data");
    };
    run.options.folder = folder_.str();
    run.add("give", give("accuracy", {0.5, 0.75}));
    run.add("RunCommand", parse_yaml(params, "r.yaml"));
    return error_from<Error>([&] { run.go(); });
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

TEST_F(RunCommandTest, runs_after_each_epoch_with_the_newest_values_or_before_training) {
  EXPECT_EQ(run(adds("{epoch} {step} {accuracy}", ", at: train_begin")), "no error");
  EXPECT_EQ(run(adds("{epoch} {step} {accuracy} {{x}}")), "no error");
  EXPECT_EQ(out(), "0 0 none\n1 2 0.5 {x}\n2 4 0.75 {x}\n");
}

TEST_F(RunCommandTest, says_before_the_run_that_there_is_no_such_program) {
  const CapturedLog log;
  EXPECT_EQ(run("{command: [no_such_program_1], at: train_end}"), "no error");
  EXPECT_TRUE(says(log.text(), {"'no_such_program_1' not found"}));
  run("{command: [sh, -c, exit], at: train_end}");
  EXPECT_THAT(log.text(), testing::Not(HasSubstr("no program 'sh'")));
}

TEST_F(RunCommandTest, runs_at_the_end_whatever_it_is) {
  EXPECT_EQ(run(adds("{step} {ended_well}", ", at: train_end")), "no error");
  fails_at_ = 3;
  EXPECT_EQ(run(adds("{step} {ended_well}", ", at: train_end")), "no data");
  EXPECT_EQ(out(), "4 true\n3 false\n");
}

TEST_F(RunCommandTest, logs_a_failure_and_goes_on_or_stops_the_run) {
  const CapturedLog log;
  EXPECT_EQ(run("{command: [sh, -c, exit 4]}"), "no error");
  EXPECT_EQ(run("{command: [sleep, \"1000\"], timeout_s: 0.05, at: train_end}"), "no error");
  EXPECT_TRUE(says(log.text(), {"warning: callback RunCommand: 'sh -c exit 4': exit code 4\n",
                                "'sleep 1000': ended after the time limit\n"}));
  EXPECT_EQ(run("{command: [sh, -c, exit 4], on_error: stop}"), "callback RunCommand: 'sh -c exit 4' failed");
  EXPECT_TRUE(says(run("{command: [echo, \"{acuracy}\"]}"), {"'acuracy'", "did you mean 'accuracy'?"}));
}

std::string log_of_command(const std::string& item) {
  const CapturedLog log;
  FakeRun run({.max_epoch = 2, .steps_per_epoch = 1});
  run.add("x", Registry<Callback>::make_item(parse_yaml(item, "r.yaml")));
  const std::string error = error_from<ResourceError>([&] { run.go(); });
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
