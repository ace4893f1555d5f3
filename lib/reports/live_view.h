#pragma once

#include <string>
#include <vector>

#include "draw/terminal_chart.h"
#include "reports/run_charts.h"
#include "run/run_status.h"
#include "system/terminal.h"

namespace tpack {

/// What `tpack top` shows: a line for each run, and a chart. Reads run folders only.
class LiveView {
 public:
  /// A folder is a run, or contains runs (the folder of a sweep). Errors: DataError for one that is neither.
  explicit LiveView(std::vector<std::string> folders);

  /// Reads changed files. `now_s`: the time since 1970.
  void refresh(double now_s);
  /// Shows the next chart, or the previous one (`by` is -1).
  void turn(int by);
  /// Lines of text within `size`; ends with one that names the chart.
  std::string frame(TerminalSize size, Colors colors) const;

 private:
  void find_runs();
  std::vector<std::vector<std::string>> panels() const;
  std::string table(TerminalSize size) const;

  std::vector<std::string> folders_;
  std::vector<RunWatch> runs_;
  std::vector<RunStats> stats_;
  size_t panel_ = 0;
};

}  // namespace tpack
