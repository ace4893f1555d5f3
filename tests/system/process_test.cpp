#include "system/process.h"

#include <gmock/gmock-matchers.h>

#include "core/error.h"
#include "core/stop.h"
#include "support/temporary_folder.h"
#include "system/file_io.h"

namespace tpack {
namespace {

TEST(ChildProcess, tells_the_exit_code) {
  EXPECT_EQ(ChildProcess({"true"}).wait(60).str(), "exit code 0");
  const ProcessEnd end = ChildProcess({"sh", "-c", "exit 3"}).wait(60);
  EXPECT_FALSE(end.is_success());
  EXPECT_EQ(end.str(), "exit code 3");
}

TEST(ChildProcess, takes_arguments_as_they_are) {
  const TemporaryFolder folder;
  ChildProcess({"sh", "-c", "printf %s \"$1\" > \"$2\"", "sh", "$(echo 'a b'; rm *)", folder / "out"})
      .wait(60);
  EXPECT_EQ(read_whole_file(folder / "out"), "$(echo 'a b'; rm *)");
}

TEST(ChildProcess, adds_to_the_environment) {
  const TemporaryFolder folder;
  ChildProcess({"sh", "-c", "printf '%s %s' \"$COLOR\" \"${PATH:+path}\" > \"$0\"", folder / "out"},
               {{"COLOR", "red"}})
      .wait(60);
  EXPECT_EQ(read_whole_file(folder / "out"), "red path");
}

TEST(ChildProcess, says_what_cannot_be_started) {
  try {
    ChildProcess({"no-such-program-here"});
    FAIL() << "no error";
  } catch (const ResourceError& error) {
    EXPECT_STREQ(error.what(), "cannot start 'no-such-program-here': No such file or directory");
  }
}

TEST(ChildProcess, is_ended_after_the_time_limit_with_what_it_has_started) {
  const TemporaryFolder folder;
  ChildProcess process({"sh", "-c", "sleep 1000 & echo $! > \"$0\"; wait", folder / "child"});
  while (read_whole_file(folder / "child").value_or("").find('\n') == std::string::npos)
    ASSERT_FALSE(process.ended());
  const ProcessEnd end = process.wait(0.01);
  EXPECT_EQ(end.str(), "ended after the time limit");
  const std::string state =
      "/proc/" + std::to_string(std::stoi(*read_whole_file(folder / "child"))) + "/cmdline";
  while (!read_whole_file(state).value_or("").empty()) continue;  // what it has started ends, too
}

TEST(ChildProcess, that_ignores_the_request_is_killed) {
  const TemporaryFolder folder;
  ChildProcess process(
      {"sh", "-c", "trap '' TERM; echo > \"$0\"; while :; do sleep 0.01; done", folder / "up"});
  while (!read_whole_file(folder / "up")) ASSERT_FALSE(process.ended());
  EXPECT_EQ(process.stop(0.05).str(), "killed by signal 9 (Killed)");
  EXPECT_EQ(process.stop(0.05).str(), "killed by signal 9 (Killed)") << "once more";
}

TEST(ChildProcess, is_ended_when_the_wait_is_stopped) {
  std::stop_source source;
  source.request_stop();
  ChildProcess process({"sleep", "1000"});
  EXPECT_THROW(process.wait(1000, source.get_token()), Stopped);
  EXPECT_EQ(process.ended()->str(), "killed by signal 15 (Terminated)");
}

}  // namespace
}  // namespace tpack
