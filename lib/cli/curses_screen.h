#pragma once

#include <string>

#include "system/terminal.h"

namespace tpack {

/// The terminal of stdin and stdout as a full screen of text; restored at the end. One at a time in a
/// process.
class CursesScreen {
 public:
  enum class Key { kNone, kOther, kResize, kQuit, kInterrupt, kNext, kPrevious };

  /// Errors: ResourceError if the terminal (TERM) is unknown.
  CursesScreen();
  ~CursesScreen();
  CursesScreen(const CursesScreen&) = delete;
  CursesScreen& operator=(const CursesScreen&) = delete;

  TerminalSize size() const;
  bool has_colors() const { return has_colors_; }
  /// Shows lines of UTF-8 text, which may change the color (ESC [ 31 m ... ESC [ 0 m); text that does not fit
  /// is cut off.
  void show(const std::string& text);
  /// Waits for a key, up to the given time.
  Key wait_for_key(int milliseconds);

 private:
  bool has_colors_ = false;
  void* terminal_ = nullptr;  // SCREEN of curses
};

}  // namespace tpack
