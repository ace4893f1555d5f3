#include "predict/judged_input.h"

#include "graph/builder.h"
#include "predict/class_counts.h"

namespace tpack {

std::optional<JudgedInput> judged_input(const TowerFunction& tower) {
  Graph graph;
  VariableTable table;
  Builder b(graph, table, {Phase::kInference, DType::kFloat32});
  const TowerResult result = build_tower(b, tower, batch_specs(tower, 1), {});
  if (result.judgements.empty()) return std::nullopt;
  const Judgement& judgement = result.judgements[0];
  const auto input = input_of(judgement.targets, tower);
  if (!input) return std::nullopt;
  const TowerInput& known = tower.inputs()[*input];
  return JudgedInput{known.name, known.component, judgement.kind, judgement.predictions.shape().elements()};
}

}  // namespace tpack
