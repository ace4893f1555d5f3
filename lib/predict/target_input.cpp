#include "predict/target_input.h"

#include "graph/tower_description.h"
#include "predict/class_counts.h"

namespace tpack {

std::optional<TargetInput> target_input(const TowerFunction& tower) {
  const std::vector<PredictionTarget>& targets = tower.description().targets();
  if (targets.empty()) return std::nullopt;
  const PredictionTarget& target = targets[0];
  const auto input = input_of(target.targets, tower);
  if (!input) return std::nullopt;
  const TowerInput& known = tower.inputs()[*input];
  return TargetInput{known.name, known.component, target.classes, target.predictions.shape().elements()};
}

}  // namespace tpack
