#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "monitor/monitor.h"
#include "monitor/stat_table.h"

namespace tpack {

/// True if a scalar, by its name, depends on the clock or the machine and so differs between runs:
/// steps_per_s, data_wait_time_share, resident_memory_gb, gpu_0_utilization.
bool differs_between_runs(std::string_view name);

/// Passes values to all monitors and keeps the history of every scalar. The prefix `towerN/` and the suffix
/// `-summary` of names are removed. A monitor that cannot write is reported in the log; the others and the
/// run continue. Threads: one at a time.
class Monitors {
 public:
  using History = std::vector<std::pair<int64_t, double>>;  // (global step, value), oldest first

  explicit Monitors(std::vector<std::unique_ptr<Monitor>> monitors) : monitors_(std::move(monitors)) {}

  /// From now on, monitors get no values; the history continues.
  void detach() { monitors_.clear(); }
  /// Adds the history to the record of a resumed run.
  void open(RunRecord run);
  /// The time of everything put until the next call.
  void set_stamp(const StepStamp& at) { now_ = at; }
  /// A second value of the same name and time replaces the first.
  void put_scalar(const std::string& name, double value);
  void put_image(const std::string& name, const Tensor& image);
  void put_histogram(const std::string& name, const Histogram& histogram);
  void put_text(const std::string& name, const std::string& text);
  /// Tells the monitors that the step has ended, if it had values.
  void end_step();
  void end_epoch();
  void close();

  /// The newest value; empty if there is none yet.
  std::optional<double> get_latest(const std::string& name) const;
  /// Empty if there is none yet.
  const History& get_history(const std::string& name) const;
  /// The scalars seen so far, sorted.
  std::vector<std::string> names() const;

  /// `undo_phase` removes values put since `begin_phase`, only from the history: the run ends after it.
  void begin_phase() { before_phase_.clear(); }
  void undo_phase();

  /// The history as JSON, for a checkpoint: {NAME: [[global step, value, epoch], ...]}. Values are restored
  /// bit-exactly.
  std::string save() const;
  /// Errors: CheckpointError if the text is not a history.
  void load(const std::string& text, const std::string& source);

 private:
  /// The values of one scalar.
  struct Series {
    History values;
    // [global step, value, epoch] for each: a record with a successor does not change.
    std::string earlier;
    std::string last;
  };
  /// Its length and newest value before a phase.
  struct SeriesEnd {
    size_t values = 0;
    double value = 0;
    size_t earlier = 0;
    std::string last;
  };

  static void add(Series& series, const StepStamp& at, double value);
  void each(const std::function<void(Monitor&)>& act);

  std::vector<std::unique_ptr<Monitor>> monitors_;
  StatTable records_;
  std::map<std::string, Series> series_;           // the same by name
  std::map<std::string, SeriesEnd> before_phase_;  // of the values put since
  StepStamp now_;
  bool has_values_ = false;  // since the last end of a step
};

}  // namespace tpack
