#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "backend/machine_limits.h"
#include "comm/allreduce_model.h"
#include "experiment/experiment.h"

namespace tpack {

struct BenchOptions {
  int steps = 100;   // timed
  int warm_up = 10;  // not timed
  /// A file for the kernels of one more step, in the format of StepTrace; empty: none.
  std::string trace = {};
};

/// Median time of one step of a kind of work.
struct BenchFigure {
  double median_s = 0;
  double samples_per_s = 0;
};

/// The time and work of kernels in a step, and the least time of that work on this machine (MachineLimits):
/// of a kernel's arithmetic or of its memory traffic, whichever takes longer.
struct KernelCost {
  double seconds = 0;
  double flops = 0;
  double bytes = 0;         // of operands and results
  double arithmetic_s = 0;  // least time of kernels that arithmetic limits
  double memory_s = 0;      // of those that memory limits

  void add(const KernelCost& other);
  double limit_s() const { return arithmetic_s + memory_s; }
  const char* limit() const { return arithmetic_s > memory_s ? "arithmetic" : "memory"; }
  /// The share of the limit that is reached.
  double share() const { return seconds > 0 ? limit_s() / seconds : 0; }
};

/// A part of the time of a step: all nodes of one kind in one program, summed over a step.
struct NodeKindTime {
  std::string program;  // "backward", "update"
  std::string kind;
  int nodes = 0;
  KernelCost cost = {};
};

/// One node of a step's programs.
struct NodeCost {
  std::string program;
  std::string path;  // of its layer or optimizer
  std::string kind;
  KernelCost cost = {};
};

struct BenchReport {
  int64_t batch = 0;
  int64_t towers = 1;
  int threads = 1;                 // of each tower
  std::string precision = "fp32";  // engine.precision
  std::string hardware = {};       // of the device; empty without a model
  std::string step_digest = {};    // not in to_json
  int steps = 0;
  std::optional<BenchFigure>
      train;  // the step alone, always with the same batch; empty if the trainer reads its data itself
  std::optional<BenchFigure> data;  // the data alone; empty without data, or if the model makes it
  std::optional<BenchFigure>
      both;            // training with changing data, from initial weights; empty without a model
  std::string figure;  // the first statistic of a step: "cost"
  /// Its mean over steps 81 to 100 of that training, to check that other programs do the same work. NaN if
  /// there are fewer steps.
  double figure_81_to_100 = std::numeric_limits<double>::quiet_NaN();
  double peak_rss_mb = 0;                    // of this process, 10^6 bytes
  std::optional<MachineLimits> limits = {};  // of one tower; empty without nodes
  std::vector<NodeKindTime> kinds;           // the slowest first
  std::vector<NodeCost> nodes;               // the slowest first

  /// Tables for the terminal, with the `slowest` nodes one by one.
  std::string str(size_t slowest = 10) const;
  std::string to_json(size_t slowest = 10) const;
};

/// When the gradients of a step on one device are ready, in buckets of the given number of bytes, with
/// `element_bytes` per element on the network. Errors: as `bench`; ConfigError for a trainer without a
/// program "backward" for one update.
StepProfile profile_step(Experiment& experiment, const BenchOptions& options, int64_t bucket_bytes,
                         int element_bytes);

/// Measures the training step of an experiment with any trainer, its data, and both together; without a
/// model, only the data. Errors: ConfigError; errors of the trainer and the data; ResourceError if the trace
/// cannot be written.
BenchReport bench(Experiment& experiment, const BenchOptions& options);

}  // namespace tpack
