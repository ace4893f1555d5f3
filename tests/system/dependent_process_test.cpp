#include "system/dependent_process.h"

#include <csignal>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <thread>
#include <unistd.h>

#include <gtest/gtest.h>

#include "core/error.h"
#include "support/temporary_folder.h"
#include "system/machine.h"

namespace tpack {
namespace {

DependentProcess::Options shell(const std::string& script, const std::string& output = {}) {
  return {.program = "sh", .words = {"sh", "-c", script}, .output = output};
}

TEST(DependentProcess, gives_how_it_ended) {
  EXPECT_EQ(DependentProcess(shell("exit 3")).wait(), 3);
  EXPECT_EQ(DependentProcess(shell("kill -KILL $$")).wait(), 128 + SIGKILL);
  EXPECT_EQ(DependentProcess({.program = "no-such-program-here", .words = {"x"}}).wait(),
            DependentProcess::kNotFound);
  EXPECT_EQ(DependentProcess({.program = "/", .words = {"x"}}).wait(), DependentProcess::kNotStarted);
}

TEST(DependentProcess, adds_both_outputs_to_a_file) {
  const TemporaryFolder folder;
  write_content(folder / "out.txt", "before\n");
  DependentProcess(shell("read line; echo out; echo err >&2", folder / "out.txt")).wait();
  EXPECT_EQ(content_of(folder / "out.txt"), "before\nout\nerr\n");
  EXPECT_THROW(DependentProcess(shell("true", folder / "no/such/folder.txt")), ResourceError);
}

TEST(DependentProcess, may_use_some_processors_only) {
  const TemporaryFolder folder;
  auto options = shell("taskset -cp $$", folder / "out.txt");
  options.processors = {allowed_cpus().back()};
  EXPECT_EQ(DependentProcess(options).wait(), 0);
  const std::string last = ": " + std::to_string(allowed_cpus().back()) + "\n";
  EXPECT_TRUE(content_of(folder / "out.txt").ends_with(last)) << content_of(folder / "out.txt");
}

TEST(DependentProcess, can_be_watched_and_signalled) {
  DependentProcess process(shell("exec sleep 1000"));
  EXPECT_FALSE(process.has_ended());
  process.signal(SIGTERM);
  pollfd end = {process.descriptor(), POLLIN, 0};
  EXPECT_EQ(poll(&end, 1, 10000), 1);
  EXPECT_TRUE(process.has_ended());
  EXPECT_EQ(process.wait(), 128 + SIGTERM);
  EXPECT_TRUE(process.has_ended());
}

/// Programs that run until a signal ends them, and their process ids.
class DependentSleeper : public testing::Test {
 protected:
  DependentProcess::Options sleeper(const std::string& name) const {
    const std::string file = folder_ / name;
    return shell("echo $$ > " + file + ".new; mv " + file + ".new " + file + "; exec sleep 1000");
  }
  /// Waits until it runs.
  int id_of(const std::string& name) const {
    while (content_of(folder_ / name).empty()) std::this_thread::yield();
    return std::stoi(content_of(folder_ / name));
  }

  TemporaryFolder folder_;
};

TEST_F(DependentSleeper, ends_with_its_object_and_with_the_thread_that_started_it) {
  {
    const DependentProcess process(sleeper("object"));
    EXPECT_EQ(kill(id_of("object"), 0), 0);
  }
  EXPECT_EQ(kill(id_of("object"), 0), -1);

  std::unique_ptr<DependentProcess> process;
  std::thread([&] {
    process = std::make_unique<DependentProcess>(sleeper("thread"));
    id_of("thread");
  }).join();
  EXPECT_EQ(process->wait(), 128 + SIGTERM);
}

}  // namespace
}  // namespace tpack
