#pragma once

#include <span>
#include <vector>

#include "environment/environment.h"

namespace tpack {

/// One step of an episode, and what a model thinks of the states around it.
struct ValuedStep {
  float reward = 0;
  EpisodeEnd end = EpisodeEnd::kNone;
  float value = 0;       // of the state that it starts from
  float next_value = 0;  // of the state that it leads to, also where the episode is cut off there
};

/// How much better each of the steps of one environment, in their order, was than the model thought: the sum
/// of (discount * decay)^k times how far off the value of the k-th step after it was, up to the end of the
/// episode. With decay 1, advantage + value is the discounted sum of the rewards, then the value of the last
/// state. Source: Schulman et al. 2016, High-Dimensional Continuous Control Using Generalized Advantage
/// Estimation, equation 16.
std::vector<float> generalized_advantages(std::span<const ValuedStep> steps, double discount, double decay);

}  // namespace tpack
