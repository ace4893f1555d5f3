// A run whose folder is on a full or read-only disk.
#include <filesystem>

#include "checkpoint/retention.h"
#include "comparison.h"
#include "support/small_disk.h"
#include "training.h"

namespace tpack::reliability {
namespace {

using testing_cli::last_line;

class FullDisk : public Training {
 protected:
  FullDisk() { std::filesystem::create_directory(run_folder("run")); }

  void expect_whole_checkpoints() const {
    const auto left = list_checkpoints(checkpoints("run"));
    EXPECT_FALSE(left.empty());
    for (const CheckpointFile& file : left) EXPECT_NO_THROW(verify_checkpoint(file.path));
    for (const auto& entry : std::filesystem::directory_iterator(checkpoints("run")))
      EXPECT_FALSE(is_temporary_name(entry.path().filename().string())) << entry.path();
  }

  const std::vector<std::string> keep_all_ = {"--set", "callbacks.ModelSaver.keep=100"};
};

TEST_F(FullDisk, ends_with_exit_5_and_can_be_resumed_when_there_is_room) {
  train_well("straight", keep_all_);
  const SmallDisk disk(run_folder("run"), "840k");
  if (!disk.rejected().empty()) GTEST_SKIP() << "no tmpfs can be mounted: " << disk.rejected();
  std::vector<std::string> more = keep_all_;
  for (const std::string& word : {std::string("--plan"), run_folder("straight") + "/plan.json"})
    more.push_back(word);
  const Outcome full = train("run", more);
  EXPECT_EQ(full.code, 5) << full.err;
  EXPECT_NE(full.err.find("a checkpoint was not saved: " + checkpoint(100, "run")), std::string::npos);
  EXPECT_NE(full.err.find("No space left on device"), std::string::npos);
  EXPECT_EQ(last_line(full.err),
            "error: " + checkpoint(100, "run") + " could not be saved; see the messages above");
  expect_whole_checkpoints();
  EXPECT_FALSE(std::filesystem::exists(checkpoint(100, "run")));
  int events = 0;
  for (const auto& entry : std::filesystem::directory_iterator(run_folder("run")))
    events += entry.path().filename().string().starts_with("events.out") ? 1 : 0;
  EXPECT_LE(events, 2) << "a file that cannot be written is not tried again and again";

  ASSERT_TRUE(disk.resize("8m"));
  for (const std::string& best : list_other_checkpoints(checkpoints("run")))
    std::filesystem::remove(best);  // may be later
  go_on_well("run", list_checkpoints(checkpoints("run")).at(0).step, more);
  expect_same_checkpoint(checkpoint(100, "straight"), checkpoint(100, "run"));
  expect_same_statistics(run_folder("straight"), run_folder("run"));
}

TEST_F(FullDisk, stops_at_once_if_the_config_says_so) {
  const SmallDisk disk(run_folder("run"), "840k");
  if (!disk.rejected().empty()) GTEST_SKIP() << "no tmpfs can be mounted: " << disk.rejected();
  std::vector<std::string> more = keep_all_;
  more.insert(more.end(), {"--set", "callbacks.ModelSaver.on_error=stop"});
  const Outcome full = train("run", more);
  EXPECT_EQ(full.code, 5) << full.err;
  EXPECT_EQ(last_line(full.err).find("error: " + checkpoints("run") + "/model-"), 0U) << full.err;
  EXPECT_NE(last_line(full.err).find("No space left on device"), std::string::npos);
  expect_whole_checkpoints();
}

TEST_F(FullDisk, a_file_beyond_the_limit_of_the_shell_is_an_error_as_a_full_disk_is) {
  Process limited({"/bin/sh", "-c", "ulimit -f 24 && exec \"$@\"", "sh", program(), "train", config_,
                   "--log-dir", run_folder("run"), "--set", "max_epoch=1"},
                  folder_ / "out");
  EXPECT_EQ(limited.wait(), 5) << limited.err();
  EXPECT_NE(limited.err().find("a checkpoint was not saved: " + checkpoint(25, "run") +
                               ": cannot be written (write): File too large"),
            std::string::npos)
      << limited.err();
  EXPECT_EQ(last_line(limited.err()),
            "error: " + checkpoint(25, "run") + " could not be saved; see the messages above");
}

TEST_F(FullDisk, that_is_full_from_the_start_is_rejected_with_the_path) {
  const SmallDisk disk(run_folder("run"), "4k");
  if (!disk.rejected().empty()) GTEST_SKIP() << "no tmpfs can be mounted: " << disk.rejected();
  const Outcome full = train("run");
  EXPECT_EQ(full.code, 5) << full.err;
  EXPECT_EQ(last_line(full.err).find("error: " + run_folder("run")), 0U) << full.err;
}

TEST_F(FullDisk, that_is_read_only_is_rejected_with_the_path_and_stays_as_it_is) {
  const SmallDisk disk(run_folder("run"), "8m");
  if (!disk.rejected().empty()) GTEST_SKIP() << "no tmpfs can be mounted: " << disk.rejected();
  train_well("run", {"--set", "max_epoch=1"});
  const std::string before = content_of(checkpoint(25, "run"));
  ASSERT_TRUE(disk.make_read_only());
  for (const std::string resume : {"auto", "never"}) {
    const Outcome outcome = train("run", {"--resume", resume});
    EXPECT_EQ(outcome.code, 5) << outcome.err;
    EXPECT_EQ(last_line(outcome.err).find("error: " + run_folder("run")), 0U) << outcome.err;
    EXPECT_NE(last_line(outcome.err).find("Read-only file system"), std::string::npos) << outcome.err;
  }
  EXPECT_EQ(content_of(checkpoint(25, "run")), before);
}

TEST_F(FullDisk, that_is_read_only_is_rejected_for_a_new_run_below_it) {
  const SmallDisk disk(run_folder("run"), "64k");
  if (!disk.rejected().empty()) GTEST_SKIP() << "no tmpfs can be mounted: " << disk.rejected();
  ASSERT_TRUE(disk.make_read_only());
  const Outcome outcome = train("run/below");
  EXPECT_EQ(outcome.code, 5) << outcome.err;
  EXPECT_EQ(last_line(outcome.err), "error: " + run_folder("run/below") +
                                        ": the run folder cannot be created: Read-only file system");
}

}  // namespace
}  // namespace tpack::reliability
