#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "optim/update.h"
#include "reports/memory_report.h"

namespace tpack {

/// The products of compiled programs.
struct ProductCount {
  int all = 0;
  int in_half = 0;  // with both factors in 16 bits
};

/// One output of the model for a training batch.
struct LayerReport {
  std::string name;
  TensorSpec spec;
  int64_t parameters = 0;  // trainable
  double flops = 0;        // forward, of one batch
  /// The float types in which kernels of the step store the output; empty if it stays inside of a kernel.
  std::set<DType> stored = {};
  ProductCount products = {};  // of the step, with those for its gradients
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
  Precision precision = Precision::kFp32;
  ProductCount products;  // of one tower

  std::string str() const;
  nlohmann::ordered_json to_json() const;
};

/// Compiles the step of a checked experiment. Layers and FLOPs are empty if its trainer has no model. Errors:
/// ConfigError, ResourceError.
ModelReport report_model(CheckedExperiment& checked);

}  // namespace tpack
