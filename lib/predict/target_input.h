#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "graph/tower_function.h"

namespace tpack {

/// The input with the true values: what the first term of the cost that compares samples compares its
/// predictions with.
struct TargetInput {
  std::string input;
  std::string component;  // of the data
  std::optional<TargetClasses> classes = {};
  int64_t predictions = 0;  // numbers that the model says of a sample: classes, labels, or values
};

/// Nothing if no term compares samples, or if it compares them with what other layers make.
std::optional<TargetInput> target_input(const TowerFunction& tower);

}  // namespace tpack
