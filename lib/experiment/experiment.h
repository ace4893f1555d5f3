#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "config/load_config.h"
#include "dataflow/fitted_data.h"
#include "experiment/experiment_config.h"
#include "experiment/gates.h"
#include "graph/tower_function.h"
#include "input/input_source.h"
#include "monitor/monitors.h"
#include "optim/update.h"
#include "train/loop.h"
#include "train/trainer.h"

namespace tpack {

/// An experiment as a config describes it: every component made and checked, nothing opened yet.
///
///   Experiment experiment = load_experiment("train.yaml", {"seed=2"});
///   experiment.require_for_training();
struct Experiment : ModelParts {
  ExperimentConfig config;
  std::unique_ptr<Trainer> trainer;
  std::unique_ptr<InputSource> input;
  std::vector<NamedCallback> callbacks;  // default ones last
  std::vector<std::unique_ptr<Monitor>> monitors;
  std::vector<MonitorNeed> monitor_needs;  // of these

  /// Errors: ConfigError for every section that the trainer needs and the config does not have.
  void require_for_training() const;
  /// What the trainer is given; everything in it outlives this object's use.
  TrainSetup train_setup(Plan& plan, Comm& world) const;
  /// The config with every default written out and every path absolute: reading it gives the same experiment.
  ConfigNode effective() const;
};

/// Reads the config of an experiment with its includes; nothing is made. Errors: as load_config.
LoadedConfig load_experiment_config(const std::string& path, const std::vector<std::string>& overrides = {});
/// The same from the text of a config (in a checkpoint); `name` is what positions show.
LoadedConfig load_experiment_config_text(const std::string& text, const std::string& name,
                                         const std::vector<std::string>& overrides = {});

/// The sections of a config that was read, none of whose components are made; loads its plugins. Errors:
/// ConfigError for a plugin, if there are any.
ExperimentConfig parse_experiment(const ConfigNode& root, const std::string& default_name,
                                  Diagnostics& errors);
/// Reads a config with its plugins and makes everything that it names. Errors: ConfigError with all mistakes.
Experiment load_experiment(const std::string& path, const std::vector<std::string>& overrides = {});
/// The same from a config that was read. `stored`: what a checkpoint keeps of the training data; all flows
/// follow it, data.train too.
Experiment make_experiment(LoadedConfig source, const std::string& default_name,
                           std::optional<FittedData> stored = std::nullopt);
/// Makes the flows again, so that they follow what a checkpoint keeps. Errors: ConfigError.
void follow(Experiment& experiment, FittedData stored);

}  // namespace tpack
