#include "predict/target_scale.h"

#include <cmath>
#include <cstdio>

#include "core/error.h"
#include "dataflow/moments.h"
#include "graph/pointwise.h"
#include "graph/structural.h"
#include "graph/tower_description.h"
#include "ops/convolution.h"
#include "ops/matmul.h"
#include "predict/class_counts.h"
#include "system/log.h"

namespace tpack {
namespace {

bool is_variable(Symbol at) {
  while (op_cast<Reshape>(*at.node) != nullptr) at = at.node->inputs[0];
  return op_cast<Read>(*at.node) != nullptr;
}

/// The operand of a sum with a bias; empty for other nodes.
std::optional<Symbol> without_bias(const Node& node) {
  const auto* op = op_cast<pointwise::Pointwise>(node);
  if (op == nullptr || op->expression().code.size() != 3 ||
      op->expression().code.back().fn != pointwise::Fn::kAdd)
    return std::nullopt;
  if (is_variable(node.inputs[1])) return node.inputs[0];
  return is_variable(node.inputs[0]) ? std::optional(node.inputs[1]) : std::nullopt;
}

/// A product with weights, with a bias or without.
bool is_linear(Symbol at) {
  while (true) {
    if (op_cast<MatMul>(*at.node) != nullptr || op_cast<Convolution>(*at.node) != nullptr) return true;
    const auto sum_of = without_bias(*at.node);
    if (!sum_of && op_cast<Reshape>(*at.node) == nullptr) return false;
    at = sum_of.value_or(at.node->inputs[0]);
  }
}

std::string short_number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, std::abs(value) < 1000 ? "%.3g" : "%.0f", value);
  return text;
}

}  // namespace

void warn_of_far_targets(const TowerFunction& tower, const DataFlow& train) {
  constexpr int64_t kFirst = 256;  // samples
  constexpr double kFar = 20;
  if (!may_look_at(train)) return;
  for (const PredictionTarget& one : tower.description().targets()) {
    const auto input = input_of(one.targets, tower);
    if (one.classes || !input || !is_linear(one.predictions)) continue;
    const std::string& component = tower.inputs()[*input].component;
    if (!train.spec().find(component)) continue;
    const Moments all = moments_of(train, component.c_str(), 1, kFirst)[0];
    const double size = std::sqrt(all.mean * all.mean + all.squares / static_cast<double>(all.count));
    if (!(size > kFar)) continue;
    const std::string what =
        one.term + ": its targets '" + one.targets_name + "' are " + short_number(all.mean) + " +- " +
        short_number(all.deviation()) +
        " in data.train (mean and deviation of the first samples), but a linear layer starts near 0 and "
        "needs long to reach them; put ScaleLike: " +
        one.targets_name +
        " after it, and use its output in the cost, the metrics and predict; their unit does not change";
    log::warning(Problem{one.predictions.node->origin, what}.str());
  }
}

}  // namespace tpack
