#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "backend/device.h"
#include "reports/bench.h"

namespace tpack {

/// The training step of one experiment in several precisions.
struct PrecisionReport {
  struct Row {
    Precision precision = Precision::kFp32;
    BenchFigure step;  // medians over the rounds
  };
  int64_t batch = 0;
  int rounds = 0;
  std::vector<Row> rows;

  std::string str() const;
  std::string to_json() const;
};

/// Benches each precision in turn, in several rounds, so that a busy moment of the machine does not affect
/// only one of them. `load` reads the experiment with a precision. A run of the same step repeats the result
/// at its start (run/precision_times.h). Errors: those of `bench`; ConfigError if it has no step.
PrecisionReport bench_precisions(const std::function<Experiment(Precision precision)>& load,
                                 std::span<const Precision> precisions, const BenchOptions& options);

}  // namespace tpack
