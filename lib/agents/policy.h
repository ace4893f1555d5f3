#pragma once

#include <cstdint>
#include <span>

#include "core/rng.h"

namespace tpack {

struct ChosenAction {
  int32_t action = 0;
  float log_probability = 0;
};

/// Draws an action with the probabilities softmax(logits).
ChosenAction draw_action(std::span<const float> logits, Rng& rng);

}  // namespace tpack
