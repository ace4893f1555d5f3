#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "comm/comm.h"
#include "experiment/experiment.h"

namespace tpack {

/// Steps of an epoch; computes `steps_per_epoch: data`. After the trainer's setup. Errors: ConfigError if the
/// length of a pass is unknown.
int64_t resolved_steps_per_epoch(const Experiment& experiment);

/// Sets up the trainer, with `input` instead of the experiment's input if given; problems without a position
/// get that of the `trainer` section. Errors: ConfigError.
void set_up_trainer(Experiment& experiment, Plan& plan, Comm& world, const InputSource* input = nullptr);

/// Opens the data, then sets up the trainer. If the data cannot be opened, but declare their contents, the
/// model is still checked, so that mistakes in both are reported together. Errors: as for the two functions;
/// ConfigError if both fail.
void open_data_and_set_up(const Experiment& experiment, const std::function<void()>& open_data,
                          const std::function<void()>& set_up);

/// A warning if weights are trained and no callback saves them.
void warn_of_unsaved_weights(const Experiment& experiment);

/// A remark if the cost compares predictions with targets, but no callback reports a statistic of a flow
/// other than data.train. `statistics`: all that the run reports.
void remark_of_no_validation(const Experiment& experiment, const StatisticGoals& statistics);

/// An experiment after all checks that are possible before the first step: names, shapes, types, order of
/// callbacks, gates. Compiles only on request, writes no files.
class CheckedExperiment {
 public:
  /// `with_data`: also opens the data; otherwise uses their declarations (or those of the model's inputs, if
  /// data.train must be opened), does not set up callbacks, and leaves out weights of `init` that are
  /// missing. Errors: ConfigError with all mistakes of the first failing stage; DataError, ResourceError.
  CheckedExperiment(const std::string& path, const std::vector<std::string>& overrides, bool with_data);

  Experiment& experiment() { return experiment_; }
  Plan& plan() { return plan_; }
  /// False if it is unknown whether data.train fits the model, because it must be opened, but was not.
  bool knows_train_data() const { return knows_train_data_; }
  /// Every statistic that the run will report; empty without the data.
  const StatisticGoals& statistics() const { return statistics_; }
  /// 0 if it is known only from the data.
  int64_t steps_per_epoch() const { return steps_per_epoch_; }
  /// Compiles every program that a run will use, and loads the weights of `init`. Errors: ConfigError,
  /// ResourceError, CheckpointError.
  void compile();
  /// Memory of this process, its compiled programs, and the data in its sources. After `compile`.
  uint64_t program_bytes() const { return program_bytes_; }
  uint64_t data_bytes() const { return data_bytes_; }

 private:
  void declare_train_data();

  Experiment experiment_;
  Plan plan_;
  std::unique_ptr<Comm> world_;
  int64_t steps_per_epoch_ = 0;
  bool knows_train_data_ = true;
  StatisticGoals statistics_;
  bool callbacks_are_set_up_ = false;
  uint64_t program_bytes_ = 0;
  uint64_t data_bytes_ = 0;
  std::unique_ptr<Monitors> monitors_;
  std::unique_ptr<Run> run_;
};

}  // namespace tpack
