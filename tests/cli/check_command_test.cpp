#include <gmock/gmock.h>

#include "experiment/check.h"
#include "support/late_source.h"
#include "support/program_runner.h"

namespace tpack {
namespace {

using testing_cli::kTinyConfig;

TEST(CheckCommand, opens_data_that_alone_tell_what_they_hold) {
  const TemporaryFolder folder;
  write_content(folder / "tiny.yaml", kTinyConfig);
  const std::vector<std::string> late = {"data.train.0={Late: {size: 12}}"};
  CheckedExperiment checked(folder / "tiny.yaml", late, true);
  EXPECT_EQ(checked.steps_per_epoch(), 3);
  EXPECT_EQ(checked.experiment().train_flow()->spec().str(), "image uint8 [4, 4, 4, 1], label int32 [4]");
  try {
    CheckedExperiment(folder / "tiny.yaml", late, false);
    FAIL() << "nothing is known without the data";
  } catch (const ConfigError& error) {
    EXPECT_THAT(
        error.what(),
        testing::HasSubstr("tiny.yaml:5:5: what this flow holds is known only once its data is opened"));
  }
}

}  // namespace
}  // namespace tpack
