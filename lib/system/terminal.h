#pragma once

namespace tpack {

/// Width and height in characters.
struct TerminalSize {
  int columns = 80;
  int rows = 24;
};

/// The size of the terminal that the file descriptor is; 80 x 24 if it is none or does not say.
TerminalSize terminal_size(int descriptor);

/// The width of the terminal that the file descriptor is; 0 if it is none, so that nothing need fit.
int text_width(int descriptor);

/// True if the file descriptor is a terminal that shows colors, and nobody objects (NO_COLOR, TERM=dumb).
bool colors_wanted(int descriptor);

}  // namespace tpack
