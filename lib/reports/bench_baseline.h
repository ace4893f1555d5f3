#pragma once

#include <string>
#include <vector>

#include "reports/bench.h"

namespace tpack {

/// The times of a step in an earlier bench and now.
struct ComparedTime {
  std::string what;
  double before_s = 0;
  double now_s = 0;  // the median of several benches
  bool is_slower(double tolerance) const { return now_s > before_s * (1 + tolerance); }
};

/// What `tpack bench --json` printed, without kinds and nodes. Errors: ConfigError if the file is missing or
/// something else.
BenchReport read_bench(const std::string& path);

/// The training steps of both, or, if there is no model, the data. Errors: ConfigError if the batch, the
/// towers, the threads, the precision or the hardware differ, or if nothing was timed in both.
std::vector<ComparedTime> compare_benches(const BenchReport& before, const std::string& path,
                                          const std::vector<BenchReport>& now);

/// A table of the times.
std::string comparison_text(const std::vector<ComparedTime>& times, double tolerance);

}  // namespace tpack
