#include "agents/advantages.h"

namespace tpack {

std::vector<float> generalized_advantages(std::span<const ValuedStep> steps, double discount, double decay) {
  std::vector<float> advantages(steps.size());
  double after = 0;
  for (size_t i = steps.size(); i-- > 0;) {
    const ValuedStep& step = steps[i];
    const double next = step.end == EpisodeEnd::kOver ? 0 : static_cast<double>(step.next_value);
    const double off = static_cast<double>(step.reward) + discount * next - static_cast<double>(step.value);
    after = off + (step.end == EpisodeEnd::kNone ? discount * decay * after : 0);
    advantages[i] = static_cast<float>(after);
  }
  return advantages;
}

}  // namespace tpack
