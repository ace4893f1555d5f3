#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "comm/allreduce_model.h"
#include "experiment/experiment.h"

namespace tpack {

struct BenchOptions {
  int steps = 100;   // timed
  int warm_up = 10;  // not timed
};

/// Median time of one step of a kind of work.
struct BenchFigure {
  double median_s = 0;
  double samples_per_s = 0;
};

/// Where the time of a step goes: all nodes of one kind in one program, summed over a step.
struct NodeKindTime {
  std::string program;  // "backward", "update"
  std::string kind;
  int nodes = 0;
  double seconds = 0;  // a step
  double flops = 0;    // a step
};

/// One node of a step's programs.
struct NodeCost {
  std::string program;
  std::string path;  // of the layer or optimizer that it comes from
  std::string kind;
  double seconds = 0;  // a step
  double flops = 0;    // a step
};

struct BenchReport {
  int64_t batch = 0;
  int64_t towers = 1;
  int threads = 1;  // of each tower
  int steps = 0;
  std::optional<BenchFigure>
      train;  // the step alone, with one batch held fixed; not if the trainer reads its data itself
  std::optional<BenchFigure> data;  // the data alone; not if there is none, or the model makes it
  std::optional<BenchFigure> both;  // training on data as it comes, from fresh weights; not without a model
  std::string figure;               // the first statistic of a step: "cost"
  /// Its mean over steps 81 to 100 of that training: shows that the same work was done as elsewhere. NaN
  /// where there are fewer steps.
  double figure_81_to_100 = std::numeric_limits<double>::quiet_NaN();
  double peak_rss_mb = 0;           // 10^6 bytes, of this process
  std::vector<NodeKindTime> kinds;  // the slowest first
  std::vector<NodeCost> nodes;      // the slowest first

  /// Tables for people, with the `slowest` nodes one by one.
  std::string str(size_t slowest = 10) const;
  std::string to_json(size_t slowest = 10) const;
};

/// When the gradients of a step on one device are there, in buckets of so many bytes, each of which takes
/// `element_bytes` for an element when it travels. Errors: as `bench`; ConfigError for a trainer without a
/// program "backward" for one update.
StepProfile profile_step(Experiment& experiment, const BenchOptions& options, int64_t bucket_bytes,
                         int element_bytes);

/// Times the training step of an experiment, its data, and both together, of any trainer; without a model,
/// the data alone. Errors: ConfigError; what the trainer and the data throw.
BenchReport bench(Experiment& experiment, const BenchOptions& options);

}  // namespace tpack
