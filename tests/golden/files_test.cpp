#include <gtest/gtest.h>

#include "support/python.h"

namespace tpack {
namespace {

/// Whether a script would write the golden files that are committed.
void expect_makes_its_files(const std::string& script) {
  const PythonResult result = run_python("golden/" + script, "--check");
  if (!result.missing.empty()) GTEST_SKIP() << result.missing;
  EXPECT_EQ(result.exit_code, 0) << result.output;
}

TEST(GoldenFiles, of_layers_are_what_their_script_makes) { expect_makes_its_files("make_layers.py"); }

TEST(GoldenFiles, of_optimizers_are_what_their_script_makes) { expect_makes_its_files("make_optimizers.py"); }

TEST(GoldenFiles, of_training_are_what_their_script_makes) { expect_makes_its_files("make_training.py"); }

}  // namespace
}  // namespace tpack
