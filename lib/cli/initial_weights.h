#pragma once

#include <string>
#include <vector>

#include "cli/experiment_config.h"
#include "train/trainer.h"

namespace tpack {

/// What became of each variable when weights were loaded by name.
struct WeightReport {
  std::vector<std::string> loaded;
  std::vector<std::string> missing;     // the model has it, the file does not
  std::vector<std::string> extra;       // the file has it, the model does not
  std::vector<std::string> mismatched;  // type or shape differ; kept as it was

  /// A table of counts and names.
  std::string str() const;
};

/// Gives the variables of a trainer that was initialized the values that a checkpoint has for them; the
/// others keep theirs. Errors: CheckpointError; ConfigError where nothing at all fits.
WeightReport load_initial_weights(const InitSection& init, Trainer& trainer);

}  // namespace tpack
