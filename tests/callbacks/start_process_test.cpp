#include <csignal>

#include <gmock/gmock-matchers.h>

#include "config/yaml_reader.h"
#include "support/captured_log.h"
#include "support/errors.h"
#include "support/fake_trainer.h"
#include "support/live_fields.h"

namespace tpack {
namespace {

using testing::HasSubstr;

/// Runs one epoch of one step, in which `on_step` is called.
void run_with(const std::string& params, const std::function<void()>& on_step) {
  FakeRun run({.max_epoch = 1, .steps_per_epoch = 1});
  run.trainer.on_step = [&](int64_t) { on_step(); };
  run.add("StartProcess", parse_yaml(params, "p.yaml")).go();
}

void wait_for(const std::string& file) {
  while (content_of(file).find('\n') == std::string::npos) continue;
}

TEST(StartProcess, runs_during_the_training_and_is_ended_after_it) {
  const CapturedLog log;
  const TemporaryFolder folder;
  run_with("{command: [sh, -c, 'echo $$ > \"$0\"; exec sleep 1000', " + folder / "id" + "]}", [&] {
    wait_for(folder / "id");
    EXPECT_EQ(::kill(std::stoi(content_of(folder / "id")), 0), 0) << "it is not there";
  });
  EXPECT_EQ(::kill(std::stoi(content_of(folder / "id")), 0), -1) << "it is still there";
  EXPECT_THAT(log.text(), HasSubstr(" was ended: killed by signal 15 (Terminated)\n"));
}

TEST(StartProcess, is_ended_after_an_error) {
  const TemporaryFolder folder;
  EXPECT_THROW(run_with("{command: [sh, -c, 'echo $$ > \"$0\"; exec sleep 1000', " + folder / "id" + "]}",
                        [&] {
                          wait_for(folder / "id");
                          throw DataError("no data");
                        }),
               DataError);
  EXPECT_EQ(::kill(std::stoi(content_of(folder / "id")), 0), -1);
}

TEST(StartProcess, says_that_it_ended_early) {
  const CapturedLog log;
  const TemporaryFolder folder;
  run_with("{command: [sh, -c, 'echo $$ > \"$0\"; exit 3', " + folder / "id" + "]}", [&] {
    wait_for(folder / "id");
    const int id = std::stoi(content_of(folder / "id"));
    while (::kill(id, 0) == 0) continue;  // until its end was noticed
  });
  EXPECT_THAT(log.text(), HasSubstr(" has ended: exit code 3\n"));
}

TEST(StartProcess, that_cannot_be_started_is_an_error) {
  EXPECT_TRUE(says(error_from<ResourceError>([] { run_with("{command: [no-such-program-here]}", [] {}); }),
                   {"cannot start 'no-such-program-here'"}));
}

std::string end_of_process(const std::string& item) {
  const CapturedLog log;
  const TemporaryFolder folder;
  const std::string up = folder / "up";
  ::setenv("TPACK_TEST_UP", up.c_str(), 1);
  FakeRun run({.max_epoch = 1, .steps_per_epoch = 1});
  run.trainer.on_step = [&](int64_t) { wait_for(up); };
  run.add("x", Registry<Callback>::make_item(parse_yaml(item, "p.yaml"))).go();
  const size_t at = log.text().rfind("callback StartProcess");
  return log.text().substr(at);
}
const live::Fields kStartProcess(
    "callback", "StartProcess",
    {.base =
         "{command: [sh, -c, 'trap \"sleep 0.3; exit 5\" TERM; echo > \"$TPACK_TEST_UP\"; while :; do sleep "
         "0.01; done'], grace_s: 60}",
     .values = {{"command", "[sh, -c, 'echo > \"$TPACK_TEST_UP\"; exec sleep 1000']"}, {"grace_s", "0"}},
     .build = end_of_process});

TEST(StartProcess, warns_before_the_training_if_its_program_is_not_there) {
  const CapturedLog log;
  FakeRun run({.max_epoch = 1, .steps_per_epoch = 1});
  run.add("StartProcess", parse_yaml("{command: [no-such-program]}", "p.yaml"));
  EXPECT_THROW(run.go(), ResourceError);
  EXPECT_THAT(log.text(), HasSubstr("callback StartProcess: program 'no-such-program' not found"));
}

}  // namespace
}  // namespace tpack
