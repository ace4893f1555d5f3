#pragma once

#include <cstddef>
#include <string>

#include "input/input_source.h"

namespace tpack {

/// How long the steps of an epoch waited for data, and the queue that they waited for.
struct DataWait {
  double seconds = 0;
  double share = 0;          // of the epoch
  double samples_per_s = 0;  // of the epoch, of all replicas
  InputQueue queue;          // at the end of the epoch
  double queue_fill = 0;     // batches that waited when a step came, on average over the epoch
  size_t processors = 1;     // of this process
};

/// Why they waited.
struct SlowData {
  std::string part;    // the slowest: "map_data_0 (a.yaml:7:7), 71 % of the work"; empty if unknown
  std::string cause;   // equal for equal causes
  std::string advice;  // "steps wait for data, ...; write ..."
};

/// Empty texts if the wait is too short to matter: below 10 % or a second.
SlowData slow_data(const DataWait& wait);

}  // namespace tpack
