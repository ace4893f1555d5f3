#include "train/tower_outputs.h"

#include <algorithm>

#include "graph/tower_description.h"
#include "graph/variable_pattern.h"

namespace tpack {

TowerOutputs::TowerOutputs(const ModelHandle& model, const std::vector<Ref<OutputPattern>>& patterns,
                           int64_t batch)
    : model_(model), nominal_(batch_specs(*model.tower, batch)) {
  const TowerDescription& tower =
      model_.tower->description({Phase::kTraining, model_.device->float_type()}, nominal_);
  std::vector<std::string> known;
  const auto is_wanted = [&](const std::string& name) {
    known.push_back(name);
    return is_for_variable(patterns, name);
  };
  for (size_t i = 0; i < model_.tower->inputs().size(); ++i) {
    const TowerInput& input = model_.tower->inputs()[i];
    if (!is_wanted(input.name)) continue;
    inputs_.push_back(i);
    outputs_.push_back({input.name, nominal_[i], input.layout, input.position});
  }
  for (const auto& [name, symbol] : tower.outputs_in_order()) {
    const bool is_input = std::find(known.begin(), known.end(), name) != known.end();
    if (!is_input && is_wanted(name)) outputs_.push_back({name, symbol.spec(), "", symbol.node->origin});
  }
  Diagnostics errors;
  check_patterns(patterns, known, "layer or input", errors);
  errors.throw_if_any();
  if (outputs_.size() == inputs_.size()) return;
  std::string name = "outputs";
  for (size_t i = inputs_.size(); i < outputs_.size(); ++i) name += " " + outputs_[i].name;
  program_ = std::make_unique<Program>(name, *model_.device, *model_.plan,
                                       [this](const Signature& fed) { return this->graph(fed); });
}

Graph TowerOutputs::graph(const Signature& fed) const {
  Graph graph;
  Builder b(graph, *model_.table, {Phase::kTraining, model_.device->float_type()});
  const auto no_statistics = [](const Statistic& /*statistic*/) { return false; };
  const TowerResult result = build_tower(b, *model_.tower, fed, {}, no_statistics);
  for (size_t i = inputs_.size(); i < outputs_.size(); ++i)
    graph.fetch(outputs_[i].name, result.outputs.at(outputs_[i].name));
  graph.keep_assignments([](const Assignment& /*assignment*/) { return false; });
  return graph;
}

void TowerOutputs::compile() {
  if (program_) program_->compile(nominal_);
}

void TowerOutputs::compute(const TowerBatch& batch) {
  fed_.assign(batch.inputs.begin(), batch.inputs.end());
  if (program_) done_ = &program_->run(batch.inputs, batch.info);
}

const Tensor& TowerOutputs::value(size_t output) const {
  if (output < inputs_.size()) return fed_.at(inputs_[output]);
  TPACK_ASSERT(done_ != nullptr, "nothing was computed");
  return done_->fetched(output - inputs_.size());
}

}  // namespace tpack
