#include <algorithm>
#include <map>
#include <vector>

#include <gmock/gmock-matchers.h>

#include "support/python.h"
#include "support/temporary_folder.h"

namespace tpack {
namespace {

/// The golden files by the script that makes them.
const std::map<std::string, std::vector<std::string>> kFiles = {
    {"make_augmentors.py", {"augmentors.json"}},
    {"make_batch_trainers.py", {"batch_trainers.json"}},
    {"make_cart_pole.py", {"cart_pole.json"}},
    {"make_images.py", {"images.json"}},
    {"make_layers.py", {"layers.json"}},
    {"make_metrics.py", {"metrics.json"}},
    {"make_optimizers.py", {"optimizers.json"}},
    {"make_reinforcement.py", {"dqn.json", "ppo.json"}},
    {"make_sample_formulas.py", {"sample_formulas.json"}},
    {"make_schedules.py", {"schedules.json"}},
    {"make_tables.py", {"tables.json"}},
    {"make_training.py", {"cifar_resnet.json", "mnist_convnet.json"}},
    {"make_updates.py", {"two_updates.json"}},
    {"make_wgan_gp.py", {"wgan_gp.json"}}};

class GoldenFiles : public testing::TestWithParam<std::string> {};

/// Makes the files again and compares.
TEST_P(GoldenFiles, are_what_their_script_makes) {
  const bool is_of_pillow = GetParam() == "make_images.py";
  const std::string python = is_of_pillow ? test_python() : torch_python();
  if (python.empty()) GTEST_SKIP() << kNoTorch;
  const PythonResult result = run_python("golden/" + GetParam(), "--check", python);
  if (is_of_pillow && !result.missing.empty()) GTEST_SKIP() << result.missing;
  if (GetParam() == "make_tables.py" && result.missing.find("sklearn") != std::string::npos)
    GTEST_SKIP() << result.missing;
  EXPECT_EQ(result.missing, "");
  EXPECT_EQ(result.exit_code, 0) << result.output;
  for (const std::string& file : kFiles.at(GetParam()))
    EXPECT_THAT(result.output, testing::HasSubstr(file + ": is what the script makes"));
}

INSTANTIATE_TEST_SUITE_P(Of, GoldenFiles,
                         testing::Values("make_augmentors.py", "make_batch_trainers.py", "make_cart_pole.py",
                                         "make_images.py", "make_layers.py", "make_metrics.py",
                                         "make_optimizers.py", "make_reinforcement.py",
                                         "make_sample_formulas.py", "make_schedules.py", "make_tables.py",
                                         "make_training.py", "make_updates.py", "make_wgan_gp.py"),
                         [](const auto& one) { return one.param.substr(0, one.param.find('.')); });

TEST(GoldenFilesOfAllScripts, are_all_that_there_are) {
  std::vector<std::string> known;
  for (const auto& [script, files] : kFiles) known.insert(known.end(), files.begin(), files.end());
  std::vector<std::string> committed = names_in(source_folder() + "/tests/golden");
  std::erase_if(committed, [](const std::string& name) { return !name.ends_with(".json"); });
  EXPECT_THAT(known, testing::UnorderedElementsAreArray(committed));
}

}  // namespace
}  // namespace tpack
