#include <csignal>
#include <iostream>
#include <memory>
#include <unistd.h>

#include <CLI/CLI.hpp>

#include "cli/commands.h"
#include "cli/curses_screen.h"
#include "core/clock.h"
#include "reports/live_view.h"

namespace tpack {
namespace {

constexpr int kRefreshMs = 500;
constexpr const char* kKeys = "q quit, n and p other charts; ";

/// Runs until a key ends it; returns the exit code.
int watch(LiveView& view) {
  CursesScreen screen;
  while (true) {
    view.refresh(wall_time_s());
    const std::string frame = view.frame(screen.size(), screen.has_colors() ? Colors::kYes : Colors::kNo);
    const size_t last =
        frame.rfind('\n', frame.size() - 2) + 1;  // height of the line with the name of the chart
    screen.show(frame.substr(0, last) + kKeys + frame.substr(last));
    switch (screen.wait_for_key(kRefreshMs)) {
      case CursesScreen::Key::kQuit:
        return 0;
      case CursesScreen::Key::kInterrupt:
        return 128 + SIGINT;
      case CursesScreen::Key::kNext:
        view.turn(1);
        break;
      case CursesScreen::Key::kPrevious:
        view.turn(-1);
        break;
      default:
        break;
    }
  }
}

int top(const std::vector<std::string>& folders) {
  LiveView view(folders);
  if (isatty(STDIN_FILENO) == 1 && isatty(STDOUT_FILENO) == 1) return watch(view);
  view.refresh(wall_time_s());
  std::cout << view.frame({}, Colors::kNo);
  return 0;
}

void add_top_options(CLI::App& command, Action& action) {
  auto folders = std::make_shared<std::vector<std::string>>();
  command.footer(
      "Keys: q quits; n, Tab or the right arrow shows the next chart, p or the left arrow the one before.\n"
      "Without a terminal it prints one frame and ends.");
  command.add_option("runs", *folders, "run folders, or the folder of a sweep")->required();
  command.callback([folders, &action] { action = [folders] { return top(*folders); }; });
}

const Subcommand kTopCommand("top", "Watch runs: state, progress and curves, redrawn as they train",
                             add_top_options);

}  // namespace
}  // namespace tpack
