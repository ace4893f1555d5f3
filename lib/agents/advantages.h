#pragma once

#include <span>
#include <vector>

#include "environment/environment.h"

namespace tpack {

/// One step of an episode, with the model's values of the states before and after it.
struct ValuedStep {
  float reward = 0;
  EpisodeEnd end = EpisodeEnd::kNone;
  float value = 0;       // of the state before it
  float next_value = 0;  // of the state after it, also if the episode is cut off there
};

/// Advantages of the steps of one environment, in order: the sum of (discount * decay)^k times the
/// temporal-difference error of the k-th step after it, up to the end of the episode. With decay 1, advantage
/// + value is the discounted sum of the rewards, then the value of the last state. Source: Schulman et al.
/// 2016, High-Dimensional Continuous Control Using Generalized Advantage Estimation, equation 16.
std::vector<float> generalized_advantages(std::span<const ValuedStep> steps, double discount, double decay);

}  // namespace tpack
