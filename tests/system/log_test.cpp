#include "system/log.h"

#include <filesystem>
#include <fstream>
#include <sstream>
#include <unistd.h>

#include <gmock/gmock-matchers.h>
#include <gtest/gtest.h>

#include "core/error.h"

namespace tpack {
namespace {

using testing::HasSubstr;
using testing::Not;

class Log : public testing::Test {
 protected:
  Log() {
    path_ =
        std::filesystem::path(testing::TempDir()) / ("tpack_log_test" + std::to_string(::getpid()) + ".txt");
    std::filesystem::remove(path_);
    log::set_level(log::Level::kOff);
    log::to_file(path_.string());
  }
  ~Log() override {
    log::close_file();
    log::set_prefix("");
    log::set_level(log::Level::kInfo);
    std::filesystem::remove(path_);
  }
  std::string written() const {
    std::ostringstream text;
    text << std::ifstream(path_).rdbuf();
    return text.str();
  }

  std::filesystem::path path_;
};

TEST_F(Log, writes_each_level_from_info_on_to_the_file_whatever_the_console_shows) {
  log::debug("detail");
  log::info("news");
  log::warning("careful");
  log::error("broken");
  EXPECT_THAT(written(), HasSubstr("] news\n"));
  EXPECT_THAT(written(), HasSubstr("] warning: careful\n"));
  EXPECT_THAT(written(), HasSubstr("] error: broken\n"));
  EXPECT_THAT(written(), Not(HasSubstr("detail")));
}

TEST_F(Log, does_not_read_braces_as_a_format) {
  log::info("{0} {} {broken");
  EXPECT_THAT(written(), HasSubstr("] {0} {} {broken\n"));
}

TEST_F(Log, puts_the_prefix_before_every_line) {
  log::set_prefix("[rank 1] ");
  log::info("hello");
  EXPECT_THAT(written(), HasSubstr("] [rank 1] hello\n"));
}

TEST_F(Log, appends_and_stops_when_closed) {
  log::info("one");
  log::close_file();
  log::info("unheard");
  log::to_file(path_.string());
  log::info("two");
  EXPECT_THAT(written(), HasSubstr("one"));
  EXPECT_THAT(written(), HasSubstr("two"));
  EXPECT_THAT(written(), Not(HasSubstr("unheard")));
}

TEST_F(Log, puts_a_message_below_a_redrawn_line) {
  log::set_level(log::Level::kWarning);
  testing::internal::CaptureStderr();
  log::redraw("step 1");
  log::redraw("step 2");
  log::info("not shown");
  log::warning("stop");
  log::redraw("step 3");
  log::end_redrawn();
  log::end_redrawn();
  EXPECT_THAT(testing::internal::GetCapturedStderr(),
              testing::MatchesRegex("\rstep 1\033.K\rstep 2\033.K\n.* warning: stop\n\rstep 3\033.K\n"));
}

TEST_F(Log, rejects_a_file_that_cannot_be_written) {
  EXPECT_THROW(log::to_file("/proc/no/such/log.txt"), ResourceError);
}

}  // namespace
}  // namespace tpack
