#include "run/run_summary.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "core/error.h"
#include "support/temporary_folder.h"
#include "support/tiny_runs.h"

namespace tpack {
namespace {

using nlohmann::json;
using RunSummary = testing_cli::WithTinyRuns;

/// `train --json` prints it, also where a gate is missed.
TEST_F(RunSummary, has_what_scripts_ask_for) {
  const Outcome outcome = exits(8, train({"--json", "--set", "gates={validation_accuracy: '> 1'}"}));
  const json summary = json::parse(outcome.out);
  EXPECT_EQ(summary.at("folder"), run_folder());
  EXPECT_EQ(summary.at("exit_code"), 8);
  EXPECT_EQ(summary.at("global_step"), 20);
  EXPECT_EQ(summary.at("statistics").at("global_step"), 20);
  EXPECT_TRUE(summary.at("statistics").contains("validation_accuracy"));
  EXPECT_EQ(summary.at("checkpoints"), json({checkpoint(20), checkpoint(10)}));
}

/// A run that cannot begin has no summary: that of the earlier one would be taken for it.
TEST_F(RunSummary, is_not_that_of_an_earlier_run) {
  ASSERT_EQ(train({"--set", "gates={validation_accuracy: '> 1'}"}).code, 8);
  const Outcome refused = exits(2, train({"--json"}));
  EXPECT_EQ(refused.out, "");
  const Outcome resumed = exits(0, train({"--json", "--resume", "auto", "--set", "max_epoch=3"}));
  EXPECT_FALSE(json::parse(resumed.out).contains("gates")) << "they are of the earlier run";
}

TEST(RunSummaryAlone, rejects_files_that_are_no_records) {
  const TemporaryFolder folder;
  write_content(folder / "stats.json", "[{");
  EXPECT_THROW(run_summary(folder.str()), DataError);
}

}  // namespace
}  // namespace tpack
