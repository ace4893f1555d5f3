#include "system/terminal.h"

#include <fcntl.h>
#include <pty.h>
#include <unistd.h>

#include <gtest/gtest.h>

namespace tpack {
namespace {

TEST(TerminalSize, is_that_of_the_terminal) {
  winsize size{.ws_row = 50, .ws_col = 132, .ws_xpixel = 0, .ws_ypixel = 0};
  int controller = -1;
  int terminal = -1;
  ASSERT_EQ(openpty(&controller, &terminal, nullptr, nullptr, &size), 0);
  EXPECT_EQ(terminal_size(terminal).columns, 132);
  EXPECT_EQ(terminal_size(terminal).rows, 50);
  close(terminal);
  close(controller);
}

TEST(TerminalSize, is_80_x_24_without_a_terminal) {
  const int file = open("/dev/null", O_RDONLY);
  EXPECT_EQ(terminal_size(file).columns, 80);
  EXPECT_EQ(terminal_size(file).rows, 24);
  close(file);
}

}  // namespace
}  // namespace tpack
