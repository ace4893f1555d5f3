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

/// The experiment of a config: every component made and checked, nothing opened yet.
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

  /// Errors: ConfigError for every missing section that the trainer needs.
  void require_for_training() const;
  /// The input of the trainer; everything in it must outlive its use.
  TrainSetup train_setup(Plan& plan, Comm& world) const;
  /// The config with all defaults and absolute paths: reading it results in the same experiment.
  ConfigNode effective() const;
};

/// Reads the config of an experiment with its includes; nothing is made. Errors: as load_config.
LoadedConfig load_experiment_config(const std::string& path, const std::vector<std::string>& overrides = {});
/// The same from the text of a config (in a checkpoint); positions show `name` as the file.
LoadedConfig load_experiment_config_text(const std::string& text, const std::string& name,
                                         const std::vector<std::string>& overrides = {});

/// The sections of a loaded config, without making components; loads its plugins. Errors: ConfigError for a
/// plugin, if there are any.
ExperimentConfig parse_experiment(const ConfigNode& root, const std::string& default_name,
                                  Diagnostics& errors);
/// Reads a config with its plugins and makes all its components. Errors: ConfigError with all mistakes.
Experiment load_experiment(const std::string& path, const std::vector<std::string>& overrides = {});
/// The same from a loaded config. `stored`: learned values of the training data from a checkpoint, used by
/// all flows including data.train.
Experiment make_experiment(LoadedConfig source, const std::string& default_name,
                           std::optional<FittedData> stored = std::nullopt);
/// Makes the flows again with the learned values of a checkpoint. Errors: ConfigError.
void follow(Experiment& experiment, FittedData stored);

}  // namespace tpack
