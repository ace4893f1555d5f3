#include "system/terminal.h"

#include <cstdlib>
#include <string_view>
#include <sys/ioctl.h>
#include <unistd.h>

namespace tpack {

TerminalSize terminal_size(int descriptor) {
  winsize size{};
  if (ioctl(descriptor, TIOCGWINSZ, &size) != 0 || size.ws_col == 0 || size.ws_row == 0) return {};
  return {size.ws_col, size.ws_row};
}

int text_width(int descriptor) { return isatty(descriptor) == 1 ? terminal_size(descriptor).columns : 0; }

bool colors_wanted(int descriptor) {
  const char* no_color = std::getenv("NO_COLOR");
  const char* term = std::getenv("TERM");
  if (no_color != nullptr && *no_color != '\0') return false;
  return isatty(descriptor) == 1 && !(term != nullptr && std::string_view(term) == "dumb");
}

}  // namespace tpack
