#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "optim/update.h"
#include "reports/memory_report.h"

namespace tpack {

/// One output of the model, as a training batch makes it.
struct LayerReport {
  std::string name;
  TensorSpec spec;
  int64_t parameters = 0;  // trainable
  double flops = 0;        // forward, of one batch
};

/// What one update trains.
struct UpdateReport {
  std::string name;  // "" for the only one
  std::string cost;
  Turn turn;
  size_t variables = 0;
  int64_t parameters = 0;
};

/// Variables of an update that have the same multiplier of the learning rate.
struct RateReport {
  std::string rate;  // the hyper-parameter
  double multiplier = 1;
  size_t variables = 0;
  int64_t parameters = 0;
};

/// What a training step would be: found by compiling it with fixed rules, without running it.
struct ModelReport {
  std::vector<LayerReport> layers;  // in the order of the network
  std::vector<UpdateReport> updates;
  std::vector<RateReport> rates;  // of the updates that multiply theirs; the largest multiplier first
  int64_t frozen = 0;             // parameters that no update trains
  StepSize size;
  int64_t parameters = 0;
  double forward_flops = 0;  // of one batch
  double step_flops = 0;     // of one tower
  MemoryReport memory;

  std::string str() const;
  nlohmann::ordered_json to_json() const;
};

/// Compiles the step of a checked experiment. Layers and FLOPs are left out if its trainer has no model.
/// Errors: ConfigError, ResourceError.
ModelReport report_model(CheckedExperiment& checked);

}  // namespace tpack
