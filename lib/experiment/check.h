#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "comm/comm.h"
#include "experiment/experiment.h"

namespace tpack {

/// Steps of an epoch; `steps_per_epoch: data` is worked out. After the trainer's setup. Errors: ConfigError
/// where a pass has no known length.
int64_t resolved_steps_per_epoch(const Experiment& experiment);

/// Sets the trainer up, with `input` instead of the experiment's if it is given; problems without a place
/// get that of the `trainer` section. Errors: ConfigError.
void set_up_trainer(Experiment& experiment, Plan& plan, Comm& world, const InputSource* input = nullptr);

/// Opens the data, then sets the trainer up. Where the data cannot be opened, but declare what they hold, the
/// model is checked all the same, so that what is wrong in both is reported at once. Errors: as the two
/// functions; ConfigError if both fail.
void open_data_and_set_up(const Experiment& experiment, const std::function<void()>& open_data,
                          const std::function<void()>& set_up);

/// A warning if weights are trained and no callback saves them.
void warn_of_unsaved_weights(const Experiment& experiment);

/// A remark if samples are compared with targets, and no callback reports a statistic of another flow than
/// data.train. `statistics`: all that the run reports.
void remark_of_no_validation(const Experiment& experiment, const StatisticGoals& statistics);

/// An experiment after everything was checked that can be known before the first step: names, shapes, types,
/// order of callbacks, gates. Nothing is compiled unless asked for, no file is written.
class CheckedExperiment {
 public:
  /// `with_data`: opens the data, too; otherwise what they declare is taken (what the model's inputs declare,
  /// where data.train must be opened to be known), and callbacks are not set up. Errors: ConfigError with all
  /// mistakes of the first stage that has any; DataError, ResourceError.
  CheckedExperiment(const std::string& path, const std::vector<std::string>& overrides, bool with_data);

  Experiment& experiment() { return experiment_; }
  Plan& plan() { return plan_; }
  /// False if nothing tells whether data.train fits the model: it must be opened, and was not.
  bool knows_train_data() const { return knows_train_data_; }
  /// Every statistic that the run will report; empty without the data.
  const StatisticGoals& statistics() const { return statistics_; }
  /// 0 if only the data tell.
  int64_t steps_per_epoch() const { return steps_per_epoch_; }
  /// Compiles every program that a run will use, and takes the weights that `init` names. Errors:
  /// ConfigError, ResourceError, CheckpointError.
  void compile();
  /// Memory that this process holds for itself and its compiled programs, and for what the data's sources
  /// keep. After `compile`.
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
