#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "dataflow/data_flow.h"

namespace tpack {

struct SpeedOptions {
  uint64_t seed = 0;
  double seconds = 2;                   // of each of the three reads
  std::optional<int64_t> samples = {};  // of each read, instead of `seconds`
  size_t workers = 0;                   // 0: the flow's settings
  double need = 1000;                   // samples per second that a network takes
};

/// The speed of a flow, shown by `tpack data bench`.
struct FlowSpeed {
  struct Read {
    int64_t samples = 0;
    double seconds = 0;
    double wait_s = 0;
    double processor_s = 0;  // of this process
    double queue_fill = 0;   // batches that waited when the reader came, on average
    int64_t queue_size = 0;  // batches that can wait

    double samples_per_s() const { return static_cast<double>(samples) / seconds; }
    double wait_share() const { return wait_s / seconds; }
  };
  struct Row {
    FlowPart part;
    PartTime time;
  };

  std::string flow;
  int64_t batch_size = 0;  // 0: single samples
  size_t workers = 1;
  double need = 0;
  Read one;                  // by one worker
  Read all;                  // by all workers, as fast as possible
  Read paced;                // by all workers, for a network of `need` samples/s
  PartTimes::Totals totals;  // of `one`
  std::vector<Row> rows;     // of the parts, in the order of the config

  /// Processors that make this many samples per second; time in which a worker waits for a file or for a
  /// processor does not count.
  double processors_for(double samples_per_s) const {
    return samples_per_s * one.processor_s / static_cast<double>(one.samples);
  }

  std::string str() const;
  nlohmann::ordered_json to_json() const;
};

/// Reads a flow as training does: with one worker and a clock around each part, as fast as possible with all
/// workers, and at the pace of a network; passes follow one another without end. Errors: DataError, also for
/// a flow without data; ConfigError for data that a model makes.
FlowSpeed measure_flow(const std::string& name, const DataFlow& flow, const SpeedOptions& options);

}  // namespace tpack
