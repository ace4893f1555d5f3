#include "train/first_bad_op.h"

#include <cmath>
#include <vector>

#include "backend/program.h"
#include "core/text.h"
#include "graph/pointwise.h"
#include "tensor/finite.h"

namespace tpack {
namespace {

using pointwise::Fn;

/// A function with the symbol that it is undefined or too large for.
struct Candidate {
  Fn fn = Fn::kLog;
  Symbol operand;
  Symbol result;
};

std::optional<Candidate> candidate_of(const Node& node) {
  const auto* op = op_cast<pointwise::Pointwise>(node);
  if (op == nullptr) return std::nullopt;
  const pointwise::Instruction& call = op->expression().code.back();
  const bool is_quotient = call.fn == Fn::kDiv;
  if (!is_quotient && call.fn != Fn::kLog && call.fn != Fn::kSqrt && call.fn != Fn::kRsqrt &&
      call.fn != Fn::kExp)
    return std::nullopt;
  const auto& load = op->expression().code[static_cast<size_t>(call.args[is_quotient ? 1 : 0])];
  if (load.fn != Fn::kInput) return std::nullopt;  // a number
  return Candidate{call.fn, node.inputs[static_cast<size_t>(load.args[0])], Symbol(node.out())};
}

BadOp described(Fn fn, double value) {
  const std::string name = pointwise::name_of(fn);
  const std::string number = " (" + short_text(value) + ")";
  if (fn == Fn::kDiv) return {"a division by " + short_text(value), "keep the divisor away from 0"};
  if (fn == Fn::kExp)
    return {"exp of a large number" + number, "keep its argument below 88, as with min(x, 80)"};
  return {name + " of " + (value < 0 ? "a negative number" + number : "0"),
          "keep its argument above 0, as with max(x, 1e-6)"};
}

bool is_inside(const std::string& path, const std::string& layer) {
  return path == layer || path.starts_with(layer + "/");
}

/// The functions of a layer in the order in which they are computed; each is fetched with its operand.
Graph graph_of(const ModelHandle& model, const Signature& fed, const std::string& layer,
               std::vector<Candidate>& found) {
  Graph graph;
  Builder b(graph, *model.table, {Phase::kTraining, model.device->float_type()});
  build_tower(b, *model.tower, fed, {}, [](const Statistic& /*statistic*/) { return false; });
  found.clear();
  for (const auto& node : graph.nodes()) {
    if (!is_inside(node->path, layer)) continue;
    if (auto candidate = candidate_of(*node)) found.push_back(*candidate);
  }
  for (size_t i = 0; i < found.size(); ++i) {
    graph.fetch("operand " + std::to_string(i), found[i].operand);
    graph.fetch("result " + std::to_string(i), found[i].result);
  }
  graph.keep_assignments([](const Assignment& /*assignment*/) { return false; });
  return graph;
}

}  // namespace

std::optional<BadOp> first_bad_op(const ModelHandle& model, const TowerBatch& batch,
                                  const std::string& layer) {
  Signature fed;
  for (const Tensor& input : batch.inputs) fed.push_back(input.spec());
  std::vector<Candidate> found;
  graph_of(model, fed, layer, found);
  if (found.empty()) return std::nullopt;
  Program program("functions of " + layer, *model.device, *model.plan,
                  [&](const Signature& signature) { return graph_of(model, signature, layer, found); });
  const Executable& done = program.run(batch.inputs, batch.info);
  for (size_t i = 0; i < found.size(); ++i) {
    const Tensor& operand = done.fetched(2 * i);
    const Tensor& result = done.fetched(2 * i + 1);
    if (!all_finite(operand)) continue;
    const auto at = first_not_finite(result);
    if (!at) continue;
    if (operand.shape() == result.shape()) return described(found[i].fn, operand.at(*at));
    return described(found[i].fn, operand.at(0));
  }
  return std::nullopt;
}

}  // namespace tpack
