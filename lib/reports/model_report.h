#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "optim/update.h"
#include "reports/memory_report.h"

namespace tpack {

/// One output of the model for a training batch.
struct LayerReport {
  std::string name;
  TensorSpec spec;
  int64_t parameters = 0;  // trainable
  double flops = 0;        // forward, of one batch
};

/// The variables of one update.
struct UpdateReport {
  std::string name;  // "" for the only one
  std::string cost;
  UpdateSchedule schedule;
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

/// A description of a training step, by compiling it with fixed rules, without running it.
struct ModelReport {
  std::vector<LayerReport> layers;  // in the order of the network
  std::vector<UpdateReport> updates;
  std::vector<RateReport> rates;  // of the updates with multipliers; the largest multiplier first
  int64_t frozen = 0;             // number of parameters without an update
  StepSize size;
  int64_t parameters = 0;
  double forward_flops = 0;  // of one batch
  double step_flops = 0;     // of one tower
  MemoryReport memory;

  std::string str() const;
  nlohmann::ordered_json to_json() const;
};

/// Compiles the step of a checked experiment. Layers and FLOPs are empty if its trainer has no model. Errors:
/// ConfigError, ResourceError.
ModelReport report_model(CheckedExperiment& checked);

}  // namespace tpack
