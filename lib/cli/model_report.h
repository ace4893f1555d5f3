#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "cli/check.h"

namespace tpack {

/// One output of the model, as a training batch makes it.
struct LayerReport {
  std::string name;
  TensorSpec spec;
  int64_t parameters = 0;  // trainable
  double flops = 0;        // forward, of one batch
};

/// What a training step would be: found by compiling it with fixed rules, without running it.
struct ModelReport {
  std::vector<LayerReport> layers;  // in the order of the network
  StepSize size;
  int64_t parameters = 0;
  double forward_flops = 0;     // of one batch
  double step_flops = 0;        // of one tower
  uint64_t variable_bytes = 0;  // with gradients and the optimizer's slots, of one tower
  uint64_t arena_bytes = 0;     // activations and scratch, of one tower
  uint64_t constant_bytes = 0;
  uint64_t data_bytes = 0;  // batches in memory, of one tower

  uint64_t total_bytes() const {
    return (variable_bytes + arena_bytes + constant_bytes + data_bytes) * static_cast<uint64_t>(size.towers);
  }
  std::string str() const;
  nlohmann::ordered_json to_json() const;
};

/// Compiles the step of a checked experiment. Nothing where its trainer has no model on devices of ours.
/// Errors: ConfigError, ResourceError.
std::optional<ModelReport> report_model(CheckedExperiment& checked);

}  // namespace tpack
