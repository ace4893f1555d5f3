#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "graph/tower_function.h"

namespace tpack {

/// The input with the true values: what the first term of the cost that compares samples compares its
/// predictions with.
struct JudgedInput {
  std::string input;
  std::string component;  // of the data
  Judgement::Kind kind = Judgement::Kind::kNumbers;
  int64_t predictions = 0;  // numbers that the model says of a sample: classes, labels, or values
};

/// Nothing if no term compares samples, or if it compares them with what other layers make.
std::optional<JudgedInput> judged_input(const TowerFunction& tower);

}  // namespace tpack
