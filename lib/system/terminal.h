#pragma once

namespace tpack {

/// Width and height in characters.
struct TerminalSize {
  int columns = 80;
  int rows = 24;
};

/// The size of the terminal of the file descriptor; 80 x 24 if it is not a terminal or the size is unknown.
TerminalSize terminal_size(int descriptor);

/// The width of the terminal of the file descriptor; 0 if it is not a terminal, so there is no limit.
int text_width(int descriptor);

/// True if the file descriptor is a terminal with colors, and NO_COLOR or TERM=dumb are not set.
bool colors_wanted(int descriptor);

}  // namespace tpack
