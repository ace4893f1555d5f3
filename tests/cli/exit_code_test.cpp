#include "cli/exit_code.h"

#include <gtest/gtest.h>

#include "core/error.h"
#include "system/log.h"

namespace tpack {
namespace {

TEST(ExitCode, guarded_reports_every_line) {
  testing::internal::CaptureStderr();
  const int code = guarded([]() -> int { throw ConfigError({{{}, "one"}, {{}, "two"}}); });
  log::set_level(log::Level::kInfo);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "error: one\nerror: two\n");
  EXPECT_EQ(code, 2);
  EXPECT_EQ(guarded([] { return 17; }), 17);
}

}  // namespace
}  // namespace tpack
