#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "graph/tower_function.h"

namespace tpack {

/// The input with the true values: the targets of the first term of the cost that compares samples.
struct TargetInput {
  std::string input;
  std::string component;  // of the data
  std::optional<TargetClasses> classes = {};
  int64_t predictions = 0;  // numbers predicted for a sample: classes, labels, or values
};

/// Empty if no term compares samples, or if its targets are computed by layers.
std::optional<TargetInput> target_input(const TowerFunction& tower);

}  // namespace tpack
