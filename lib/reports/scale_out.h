#pragma once

#include <string>
#include <vector>

#include "comm/allreduce_model.h"
#include "reports/bench.h"

namespace tpack {

/// The network between nodes, for predictions.
struct ScaleOutOptions {
  double gbit_per_s = 1;    // of data, between two nodes, in each direction
  double latency_ms = 0.1;  // one way
  double bucket_mb = 4;
  bool compressed = false;  // to 16 bits
};

/// Predicted steps of a config on several nodes with one rank each, all with the config's batch.
struct ScaleOutReport {
  struct Row {
    int nodes = 1;
    double step_s = 0;
    double samples_per_s = 0;  // of all nodes
    double efficiency = 1;     // samples per second and node, relative to one node
  };
  StepProfile profile;
  NetworkLink link;
  std::vector<Row> rows;  // 1, 2, 4 ... 256 nodes

  std::string str() const;
  std::string to_json() const;
};

/// Measures a step on one device here, and predicts it for several nodes (predicted_step_s). Errors: as
/// profile_step.
ScaleOutReport predict_scale_out(Experiment& experiment, const BenchOptions& options,
                                 const ScaleOutOptions& network);

}  // namespace tpack
