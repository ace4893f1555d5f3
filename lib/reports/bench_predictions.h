#pragma once

#include <cstdint>
#include <string>

#include "reports/bench.h"

namespace tpack {

/// The time of predictions of batches of one size, with the engine's fixed rules, as `tpack infer` and
/// InferenceModel make them.
struct PredictionBench {
  int64_t batch = 0;
  int threads = 1;
  std::string precision = "fp32";
  BenchFigure prediction;
  double peak_rss_mb = 0;  // of this process, 10^6 bytes

  std::string str() const;
  std::string to_json() const;
};

/// Predicts the outputs of `predict` again and again for one batch of the size of data.train, with initial
/// weights and inputs of zeros. Errors: ConfigError without such outputs; those of Predictor.
PredictionBench bench_predictions(const Experiment& experiment, const BenchOptions& options);

}  // namespace tpack
