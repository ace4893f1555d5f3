#include "run/run_folder.h"

#include <filesystem>

#include <nlohmann/json.hpp>

#include "checkpoint/checkpoint.h"
#include "core/error.h"
#include "support/temporary_folder.h"

namespace tpack {
namespace {

namespace fs = std::filesystem;
using Mode = ResumeRequest::Mode;

void save(const std::string& folder, int64_t step) {
  CheckpointContent content;
  content.step = step;
  content.tensors["model/w"] = Tensor::scalar(1.0F);
  save_checkpoint(folder + "/checkpoints/model-" + std::to_string(step) + ".h5", content);
}

TEST(RunFolder, reads_what_resume_asks) {
  EXPECT_EQ(ResumeRequest::parse("").mode, Mode::kNone);
  EXPECT_EQ(ResumeRequest::parse("auto").mode, Mode::kAuto);
  EXPECT_EQ(ResumeRequest::parse("never").mode, Mode::kNever);
  EXPECT_EQ(ResumeRequest::parse("x/model.h5").file, "x/model.h5");
}

TEST(RunFolder, is_made_with_its_parents) {
  const TemporaryFolder folder;
  RunFolder run(folder / "a/b/", {});
  run.begin();
  EXPECT_EQ(run.path(), folder / "a/b");
  EXPECT_TRUE(fs::is_directory(folder / "a/b/checkpoints"));
  EXPECT_FALSE(run.checkpoint().has_value());
}

TEST(RunFolder, is_held_by_one_at_a_time) {
  const TemporaryFolder folder;
  {
    const RunFolder first(folder / "run", {});
    EXPECT_THROW(RunFolder(folder / "run", {}), ResourceError);
  }
  EXPECT_NO_THROW(RunFolder(folder / "run", {}));
}

TEST(RunFolder, that_must_stay_keeps_other_files_and_moves_those_of_runs_inside) {
  const TemporaryFolder folder;
  const auto expect_moved = [&](const std::string& path, const std::string& real) {
    RunFolder(path, {}).begin();
    save(path, 5);
    write_content(path + "/notes.txt", "mine");
    write_content(path + "/log.txt", "old");
    RunFolder afresh(path, {Mode::kNever, ""});
    afresh.begin();
    EXPECT_TRUE(fs::exists(real + "/notes.txt"));
    EXPECT_FALSE(fs::exists(real + "/log.txt"));
    EXPECT_TRUE(fs::is_empty(real + "/checkpoints"));
    int backups = 0;
    for (const auto& entry : fs::directory_iterator(real)) {
      if (!entry.path().filename().string().starts_with("bak-")) continue;
      ++backups;
      EXPECT_TRUE(fs::exists(entry.path() / "checkpoints/model-5.h5"));
      EXPECT_TRUE(fs::exists(entry.path() / "log.txt"));
    }
    EXPECT_EQ(backups, 1);
  };
  fs::create_directories(folder / "real");
  fs::create_directory_symlink(folder / "real", folder / "link");
  expect_moved(folder / "link", folder / "real");
  EXPECT_TRUE(fs::is_symlink(folder / "link"));
  fs::create_directories(folder / "here");
  expect_moved(folder / "here/.", folder / "here");
}

TEST(RunFolder, says_the_reason_in_text_whatever_the_bytes_of_a_name_are) {
  const ExitRecord record{.exit_code = 3, .reason = "b\xE9.png: is damaged"};
  EXPECT_EQ(nlohmann::json::parse(record.to_json()).at("reason"), "b\\xE9.png: is damaged");
}

TEST(RunFolder, with_checkpoints_needs_a_decision) {
  const TemporaryFolder folder;
  RunFolder(folder / "run", {}).begin();
  save(folder / "run", 5);
  EXPECT_THROW(RunFolder(folder / "run", {}), ConfigError);
  EXPECT_EQ(*RunFolder(folder / "run", {Mode::kAuto, ""}).checkpoint(),
            folder / "run/checkpoints/model-5.h5");
  RunFolder afresh(folder / "run", {Mode::kNever, ""});
  EXPECT_FALSE(afresh.checkpoint().has_value());
  EXPECT_EQ(folder.names().size(), 1U) << "nothing is moved before the run begins";
  afresh.begin();
  EXPECT_EQ(folder.names().size(), 2U) << "the run and its backup";
}

TEST(RunFolder, loses_what_a_killed_run_had_not_finished) {
  const TemporaryFolder folder;
  RunFolder(folder / "run", {}).begin();
  save(folder / "run", 5);
  for (const char* name : {"run/stats.json.tmp.77", "run/checkpoints/model-10.h5.tmp.77"})
    write_content(folder / name, "[");
  RunFolder run(folder / "run", {Mode::kAuto, ""});
  run.begin();
  EXPECT_FALSE(fs::exists(run.file("stats.json.tmp.77")));
  EXPECT_FALSE(fs::exists(run.checkpoints() + "/model-10.h5.tmp.77"));
  EXPECT_TRUE(fs::exists(run.checkpoints() + "/model-5.h5"));
}

TEST(RunFolder, auto_takes_the_newest_that_is_whole) {
  const TemporaryFolder folder;
  RunFolder(folder / "run", {}).begin();
  save(folder / "run", 5);
  save(folder / "run", 6);
  fs::resize_file(folder / "run/checkpoints/model-6.h5", 700);
  EXPECT_EQ(*RunFolder(folder / "run", {Mode::kAuto, ""}).checkpoint(),
            folder / "run/checkpoints/model-5.h5");
  fs::resize_file(folder / "run/checkpoints/model-5.h5", 700);
  EXPECT_THROW(RunFolder(folder / "run", {Mode::kAuto, ""}), CheckpointError);
}

TEST(RunFolder, a_file_to_resume_from_must_be_whole) {
  const TemporaryFolder folder;
  write_content(folder / "model.h5", "nothing");
  EXPECT_THROW(RunFolder(folder / "run", {Mode::kFile, folder / "model.h5"}), CheckpointError);
}

TEST(RunFolder, never_leaves_an_empty_folder_alone) {
  const TemporaryFolder folder;
  RunFolder(folder / "run", {Mode::kNever, ""}).begin();
  EXPECT_EQ(folder.names(), std::vector<std::string>{"run"});
}

TEST(ExitRecord, is_json) {
  const auto record = nlohmann::json::parse(ExitRecord{6, "a \"reason\"", 3, 40}.to_json());
  EXPECT_EQ(record.at("exit_code"), 6);
  EXPECT_EQ(record.at("reason"), "a \"reason\"");
  EXPECT_EQ(record.at("global_step"), 40);
}

TEST(RunFolder, auto_takes_a_later_best_checkpoint) {
  const TemporaryFolder folder;
  RunFolder(folder / "run", {}).begin();
  save(folder / "run", 5);
  const auto save_as = [&](const std::string& name, int64_t step, bool is_whole) {
    CheckpointContent content;
    content.step = step;
    if (is_whole) content.texts["run/json"] = "{}";
    save_checkpoint(folder / "run/checkpoints/" + name, content);
    return folder / "run/checkpoints/" + name;
  };
  const auto chosen = [&] { return *RunFolder(folder / "run", {Mode::kAuto, ""}).checkpoint(); };
  save_as("max-accuracy.h5", 4, true);
  save_as("swa.h5", 9, false);
  EXPECT_EQ(chosen(), folder / "run/checkpoints/model-5.h5") << "the average has weights only";
  const std::string later = save_as("min-cost.h5", 8, true);
  EXPECT_EQ(chosen(), later);
  write_content(later, "damaged");
  EXPECT_EQ(chosen(), folder / "run/checkpoints/model-5.h5");
}

}  // namespace
}  // namespace tpack
