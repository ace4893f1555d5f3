#pragma once

#include <cstdint>
#include <vector>

namespace tpack {

/// Measured costs of a step of one replica.
struct StepProfile {
  struct Bucket {
    double ready_s = 0;  // since the start of the step
    double bytes = 0;    // as they travel
  };
  std::vector<Bucket> buckets;  // in the order in which they are summed
  double backward_s = 0;        // until backward ends
  double update_s = 0;          // after all sums are there
  double sum_bytes_per_s = 0;   // at which a rank adds received data
};

/// Between any two nodes, in each direction.
struct NetworkLink {
  double bytes_per_s = 0;  // of content
  double latency_s = 0;
};

/// Seconds of a step on `nodes` nodes with one rank each. A sum takes two exchanges in which each rank sends
/// (nodes - 1) / nodes of the bucket and receives the same amount: slices of the others, and sums. Exchanges
/// and additions overlap, also for different buckets (see MpiSums), so the network is idle only until the
/// first bucket is ready, and for two latencies at the end. The agreements of a step go to one rank and back,
/// with one message per doubling of the nodes.
double predicted_step_s(const StepProfile& profile, const NetworkLink& link, int nodes);

}  // namespace tpack
