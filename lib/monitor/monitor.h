#pragma once

#include <cstdint>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "monitor/histogram.h"
#include "tensor/tensor.h"

namespace tpack {

/// The time of a value in a run.
struct StepStamp {
  int64_t epoch = 0;        // from 1; 0 before the first
  int64_t global_step = 0;  // steps done

  bool operator==(const StepStamp&) const = default;
};

/// The scalars of one time, in order of arrival.
struct StatRecord {
  StepStamp at;
  std::vector<std::pair<std::string, double>> scalars;

  bool operator==(const StatRecord&) const = default;
};

/// Information on the run for a monitor.
struct RunRecord {
  std::string folder = {};               // folder for files; empty: the run writes none
  int64_t starting_epoch = 1;            // the first epoch that this process runs
  int64_t global_step = 0;               // steps that were done before it
  bool resumed = false;                  // continues from a checkpoint: other values in the files are ignored
  std::vector<StatRecord> history = {};  // of the checkpoint
  std::stop_token stop = {};             // a stop is requested when the run must end early: do not wait long
};

/// An output for the values of a run. Calls come in the order open, then put_... and end_step / end_epoch
/// during the run, then close. Threads: one at a time. Errors: ResourceError if a file cannot be written; the
/// values of the failed call may be lost, the next calls are fine.
class Monitor {
 public:
  static constexpr const char* kKind = "monitor";

  virtual ~Monitor() = default;
  /// Required scalars: a run that does not report them is an error.
  virtual std::vector<std::string> needed_scalars() const { return {}; }
  virtual void open(const RunRecord& /*run*/) {}
  virtual void put_scalar(const std::string& name, double value, const StepStamp& at) = 0;
  /// Shapes: [H, W], [H, W, C] or [N, H, W, C] with C of 1, 3 (RGB) or 4 (RGBA); uint8, or float32 from 0 to
  /// 255.
  virtual void put_image(const std::string& /*name*/, const Tensor& /*image*/, const StepStamp& /*at*/) {}
  virtual void put_text(const std::string& /*name*/, const std::string& /*text*/, const StepStamp& /*at*/) {}
  virtual void put_histogram(const std::string& /*name*/, const Histogram& /*histogram*/,
                             const StepStamp& /*at*/) {}
  /// A step with values has ended.
  virtual void end_step(const StepStamp& /*at*/) {}
  /// Makes everything put so far visible to others.
  virtual void end_epoch(const StepStamp& at) = 0;
  virtual void close() {}
};

}  // namespace tpack
