// Runs the program: best checkpoints that a resumed run finds damaged, elsewhere, or of other data.
#include <filesystem>

#include <gmock/gmock-matchers.h>

#include "run/train.h"
#include "support/errors.h"
#include "support/tiny_runs.h"

namespace tpack {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;
using testing_cli::joined;
using testing_cli::Outcome;
using testing_cli::Words;

class TrainBest : public testing_cli::WithTinyRuns {
 protected:
  Outcome run(const std::string& epochs, std::vector<std::string> more = {},
              const std::string& name = "run") {
    more.insert(more.end(), {"--set", "max_epoch=" + epochs, "--set",
                             "callbacks=!append [MaxSaver: {monitor: validation_accuracy}]"});
    Outcome outcome = train(more, name);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    return outcome;
  }
  std::string best(const std::string& name = "run") const {
    return run_folder(name) + "/checkpoints/max-validation_accuracy.h5";
  }
  bool anything_left() const {
    for (const auto& entry : fs::directory_iterator(run_folder() + "/checkpoints"))
      if (entry.path().filename().string().starts_with("archived-")) return true;
    return false;
  }
};

TEST_F(TrainBest, stays_in_its_place_and_is_named_if_it_is_damaged) {
  run("2");
  fs::resize_file(best(), fs::file_size(best()) - 100);
  write_content(run_folder() + "/checkpoints/notes.h5", "of somebody");
  const Outcome on = run("3", {"--resume", "auto"});
  EXPECT_THAT(on.err, HasSubstr("warning: callback MaxSaver: " + best()));
  EXPECT_FALSE(anything_left());
  EXPECT_EQ(content_of(run_folder() + "/checkpoints/notes.h5"), "of somebody");
  EXPECT_GT(checkpoint_step(best()), 20) << "the next one took its place";
}

TEST_F(TrainBest, is_named_if_it_is_in_another_folder) {
  run("2");
  const Outcome on = run("3", {"--resume", checkpoint(20)}, "other");
  EXPECT_THAT(on.err, testing::ContainsRegex(
                          "warning: callback MaxSaver: validation_accuracy was 0\\.[0-9]+ after global_step "
                          "[12]0, but this folder has no max-validation_accuracy\\.h5; the next "
                          "value counts as the best"));
  EXPECT_TRUE(fs::exists(best()));
  EXPECT_GT(checkpoint_step(best("other")), 20);
  EXPECT_THAT(run("4", {"--resume", "auto"}, "other").err, Not(HasSubstr("this folder has no")));
}

TEST_F(TrainBest, of_other_validation_data_is_set_aside) {
  const auto image = [&](const std::string& name) {
    fs::create_directories(fs::path(folder_ / name).parent_path());
    fs::copy_file(source_folder() + "/docs/images/rendered-digits.png", folder_ / name);
  };
  for (const char* name : {"v/a/1.png", "v/a/2.png", "v/b/1.png"}) image(name);
  const std::vector<std::string> validation = {
      "--set",
      "data.validation=[ImageFolder: {dir: " + (folder_ / "v") +
          ", color: gray}, AugmentImageComponent: [Resize: 4], BatchData: {batch_size: 2, remainder: true}]"};
  run("2", validation);
  const std::string before = content_of(best());
  fs::remove(folder_ / "v/a/2.png");
  const Words on = joined(validation, {"--resume", "auto"});
  EXPECT_TRUE(says(run("3", on).err, {"the best checkpoints of the"}));
  EXPECT_EQ(checkpoint_step(best()), 30);
  bool kept = false;
  for (const auto& entry : fs::recursive_directory_iterator(run_folder() + "/checkpoints"))
    kept = kept || (entry.path() != fs::path(best()) && entry.is_regular_file() &&
                    content_of(entry.path().string()) == before);
  EXPECT_TRUE(kept);
}

}  // namespace
}  // namespace tpack
