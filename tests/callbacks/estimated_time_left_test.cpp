#include <gmock/gmock.h>

#include "support/fake_trainer.h"

namespace tpack {
namespace {

TEST(EstimatedTimeLeft, is_said_after_every_epoch_but_the_last) {
  for (const bool median : {true, false}) {
    FakeTrainer trainer;
    TestRun run({.max_epoch = 3, .steps_per_epoch = 1}, trainer);
    testing::internal::CaptureStderr();
    run.add("EstimatedTimeLeft", {{"median", median}}).go();
    const std::string text = testing::internal::GetCapturedStderr();
    size_t lines = 0;
    for (size_t at = text.find("estimated time left: "); at != std::string::npos;
         at = text.find("estimated time left: ", at + 1)) {
      ++lines;
    }
    EXPECT_EQ(lines, 2U) << text;
  }
}

}  // namespace
}  // namespace tpack
