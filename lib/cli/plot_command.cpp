#include <algorithm>
#include <filesystem>
#include <iostream>
#include <memory>
#include <unistd.h>

#include <CLI/CLI.hpp>

#include "cli/commands.h"
#include "cli/options.h"
#include "draw/svg_chart.h"
#include "draw/terminal_chart.h"
#include "reports/run_charts.h"
#include "system/file_io.h"
#include "system/terminal.h"

namespace tpack {
namespace {

struct PlotOptions {
  std::vector<std::string> words;
  std::string svg;
};

/// The charts one below the other, in the height of the terminal minus the line of the prompt.
void print(const std::vector<Chart>& charts) {
  TerminalSize size = terminal_size(STDOUT_FILENO);
  size.rows = (size.rows - 1) / static_cast<int>(charts.size());
  for (const Chart& chart : charts)
    std::cout << terminal_chart(chart, size, colors_wanted(STDOUT_FILENO) ? Colors::kYes : Colors::kNo);
}

int plot(const PlotOptions& options) {
  std::vector<std::string> read = options.words;
  for (const std::string& word : options.words) read.push_back(word + "/stats.json");
  reject_overwriting("--svg", options.svg, read);
  const std::vector<Chart> charts = run_charts(options.words);
  if (options.svg.empty()) {
    print(charts);
  } else {
    write_whole_file(options.svg, svg_charts(charts));
  }
  return 0;
}

void add_plot_options(CLI::App& command, Action& action) {
  auto options = std::make_shared<PlotOptions>();
  command
      .add_option(
          "words", options->words,
          "run folders, then KEY[,KEY] for each chart (default: the statistics that validation also has)")
      ->required();
  command.add_option("--svg", options->svg, "write the charts to this file, not to the terminal")
      ->check(not_empty());
  command.callback([options, &action] { action = [options] { return plot(*options); }; });
}

const Subcommand kPlotCommand("plot", "Draw the curves of one or more runs", add_plot_options);

}  // namespace
}  // namespace tpack
