#pragma once

#include <string>
#include <vector>

#include "predict/load_weights.h"
#include "weights/loadable.h"

namespace tpack {

/// A file of weights for a model.
struct ImportJob {
  std::string file;
  std::string config;                       // of the model
  std::vector<std::string> overrides = {};  // of the config
  Naming naming = {};
  LoadRules rules = {};
};

/// Writes a checkpoint with the model of a config and the weights of a file, which `tpack infer` can use, and
/// from which `init` can start. Variables without a value have initial ones. With an empty `out`, nothing is
/// written. Errors: ConfigError if no variable fits, or one has another shape (unless `rules` skip these), or
/// `out` exists; those of the file, the config and the checkpoint.
WeightsReport import_weights(const ImportJob& job, const std::string& out);

}  // namespace tpack
