#include "cli/curses_screen.h"

#include <algorithm>
#include <clocale>
#include <cstdio>
#include <cstdlib>
#include <curses.h>
#include <unistd.h>

#include "core/error.h"
#include "core/text.h"

namespace tpack {
namespace {

constexpr short kFirstColor = 1;  // red, of ANSI 31
constexpr short kLastColor = 7;

/// Writes a line at the cursor; the numbers after ESC [ are colors.
void write_line(const std::string& line, bool has_colors) {
  constexpr int kAnsiForeground = 30;
  size_t at = 0;
  while (at < line.size()) {
    const size_t escape = line.find("\033[", at);
    addnstr(line.data() + at, static_cast<int>(std::min(escape, line.size()) - at));
    if (escape == std::string::npos) return;
    const size_t end = line.find('m', escape);
    if (end == std::string::npos) return;
    const int color = std::atoi(line.c_str() + escape + 2) - kAnsiForeground;
    const bool is_color = has_colors && color >= kFirstColor && color <= kLastColor;
    attr_set(A_NORMAL, is_color ? static_cast<short>(color) : short{0}, nullptr);
    at = end + 1;
  }
}

}  // namespace

CursesScreen::CursesScreen() {
  std::setlocale(LC_CTYPE, "C.UTF-8");  // charts are UTF-8, regardless of the environment
  terminal_ = newterm(nullptr, stdout, stdin);
  if (terminal_ == nullptr) {
    const char* name = std::getenv("TERM");
    throw ResourceError("the terminal '" + std::string(name == nullptr ? "" : name) +
                        "' is unknown; set TERM, or write one frame to a file or pipe");
  }
  raw();  // Ctrl-C is a key: the terminal is restored
  noecho();
  curs_set(0);
  keypad(stdscr, true);
  has_colors_ = colors_wanted(STDOUT_FILENO) && ::has_colors() && start_color() == OK;
  if (!has_colors_) return;
  use_default_colors();
  for (short color = kFirstColor; color <= kLastColor; ++color) init_pair(color, color, -1);
}

CursesScreen::~CursesScreen() {
  endwin();
  delscreen(static_cast<SCREEN*>(terminal_));
}

TerminalSize CursesScreen::size() const { return {COLS, LINES}; }

void CursesScreen::show(const std::string& text) {
  erase();
  int row = 0;
  for (const std::string& line : split(text, '\n')) {
    if (row >= LINES) break;
    move(row++, 0);
    write_line(line, has_colors_);
    attr_set(A_NORMAL, 0, nullptr);
  }
  refresh();
}

CursesScreen::Key CursesScreen::wait_for_key(int milliseconds) {
  constexpr int kCtrlC = 3;
  timeout(milliseconds);
  switch (getch()) {
    case ERR:
      return Key::kNone;
    case KEY_RESIZE:
      clearok(curscr, true);  // terminals move what they show
      return Key::kResize;
    case 'q':
    case 'Q':
      return Key::kQuit;
    case kCtrlC:
      return Key::kInterrupt;
    case 'n':
    case '\t':
    case KEY_RIGHT:
    case KEY_DOWN:
      return Key::kNext;
    case 'p':
    case KEY_LEFT:
    case KEY_UP:
      return Key::kPrevious;
    default:
      return Key::kOther;
  }
}

}  // namespace tpack
