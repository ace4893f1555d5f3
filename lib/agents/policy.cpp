#include "agents/policy.h"

#include <algorithm>
#include <cmath>

namespace tpack {

ChosenAction draw_action(std::span<const float> logits, Rng& rng) {
  const auto largest = static_cast<double>(*std::max_element(logits.begin(), logits.end()));
  double all = 0;
  for (const float logit : logits) all += std::exp(static_cast<double>(logit) - largest);
  double left = rng.uniform64() * all;
  size_t action = 0;
  for (; action + 1 < logits.size(); ++action) {
    left -= std::exp(static_cast<double>(logits[action]) - largest);
    if (left < 0) break;
  }
  const double log_probability = static_cast<double>(logits[action]) - largest - std::log(all);
  return {static_cast<int32_t>(action), static_cast<float>(log_probability)};
}

}  // namespace tpack
