#pragma once

#include <string>

#include "draw/chart.h"
#include "system/terminal.h"

namespace tpack {

enum class Colors : bool { kNo, kYes };

/// The chart as lines of text within `size`: legend, curves, axes with numbers. One curve, and several in
/// color, are drawn with braille dots; several without color with a character each. At least 20 x 6.
std::string terminal_chart(const Chart& chart, TerminalSize size, Colors colors);

}  // namespace tpack
