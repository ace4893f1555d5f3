#include "reports/model_report.h"

#include <algorithm>
#include <cstdio>
#include <map>

#include <nlohmann/json.hpp>

#include "core/text.h"
#include "draw/text_table.h"
#include "graph/structural.h"
#include "graph/tower_description.h"

namespace tpack {
namespace {

/// "12.3 M" (powers of 1000).
std::string human_count(double value) {
  constexpr const char* kUnits[] = {"", " k", " M", " G", " T"};
  size_t unit = 0;
  while (value >= 1000 && unit + 1 < std::size(kUnits)) {
    value /= 1000;
    ++unit;
  }
  char text[32];
  std::snprintf(text, sizeof text, unit == 0 ? "%.0f%s" : "%.3g%s", value, kUnits[unit]);
  return text;
}

/// The layer with the longest name that is a prefix of a path; null if there is none.
LayerReport* owner_of(std::vector<LayerReport>& layers, const std::string& path) {
  LayerReport* best = nullptr;
  for (LayerReport& layer : layers) {
    const bool inside = path == layer.name || path.starts_with(layer.name + "/");
    if (inside && (best == nullptr || layer.name.size() > best->name.size())) best = &layer;
  }
  return best;
}

/// The output of each layer for a batch.
void add_layers(const TowerFunction& tower, const Signature& fed, DType type, ModelReport& report) {
  const TowerDescription& described = tower.description({Phase::kTraining, type}, fed);
  for (const auto& [name, value] : described.outputs_in_order())
    report.layers.push_back({name, value.spec()});
  // If a network is called several times, its variables count at the first call.
  for (const auto& [variable, value] : trainable_reads(described.graph(), described.variables())) {
    report.parameters += variable->spec.shape.elements();
    LayerReport* layer = owner_of(report.layers, value.node->path);
    if (layer != nullptr) layer->parameters += variable->spec.shape.elements();
  }
  for (const auto& node : described.graph().nodes()) {
    const double flops = node->op->flops(*node);
    report.forward_flops += flops;
    LayerReport* layer = owner_of(report.layers, node->path);
    if (layer != nullptr) layer->flops += flops;
  }
}

/// Empty if all variables of the update have its learning rate.
void add_rates(const Update& update, const ParameterGroup& group, const VariableTable& table,
               std::vector<RateReport>& rates) {
  std::map<double, RateReport, std::greater<>> by_multiplier;
  for (const std::string& name : group.variables) {
    const double multiplier = update.optimizer->learning_rate_multiplier(name);
    RateReport& rate = by_multiplier[multiplier];
    rate.rate = update.hyper_parameter(kLearningRate);
    rate.multiplier = multiplier;
    ++rate.variables;
    rate.parameters += table.find(name)->spec.shape.elements();
  }
  if (by_multiplier.size() == 1 && by_multiplier.contains(1)) return;
  for (auto& [multiplier, rate] : by_multiplier) rates.push_back(std::move(rate));
}

void add_updates(const Experiment& e, ModelReport& report) {
  const VariableStore* store = e.trainer->part<TrainedVariables>().variables();
  if (store == nullptr) return;
  if (e.updates.empty()) return;  // nothing is trained, so nothing is frozen
  report.frozen = report.parameters;
  for (const ParameterGroup& group : store->table().groups()) {
    const auto update = std::find_if(e.updates.begin(), e.updates.end(),
                                     [&](const Update& one) { return one.name == group.name; });
    if (update == e.updates.end()) continue;
    UpdateReport row{update->name, update->cost.name, update->schedule, group.variables.size()};
    for (const std::string& name : group.variables)
      row.parameters += store->table().find(name)->spec.shape.elements();
    report.frozen -= row.parameters;
    add_rates(*update, group, store->table(), report.rates);
    report.updates.push_back(std::move(row));
  }
}

}  // namespace

ModelReport report_model(CheckedExperiment& checked) {
  Experiment& e = checked.experiment();
  ModelReport report;
  report.size = e.trainer->part<StepData>().step_size();
  checked.compile();
  if (const auto place = e.trainer->part<TrainedModel>().model_handle())
    add_layers(*place->tower, batch_specs(*place->tower, std::max<int64_t>(report.size.batch, 1)),
               e.config.engine.dtype, report);
  add_updates(e, report);
  for (const NamedExecutable& program : e.trainer->part<StepPrograms>().programs())
    report.step_flops += program.executable->report().flops;
  report.memory = report_memory(checked);
  return report;
}

std::string ModelReport::str() const {
  TextTable layer_table({"layer", "output", "parameters", "FLOPs"});
  for (const LayerReport& layer : layers) {
    layer_table.add(
        {layer.name, layer.spec.str(), with_thousands(layer.parameters), human_count(layer.flops)});
  }
  TextTable update_table({"update", "cost", "steps", "variables", "parameters"});
  for (const UpdateReport& update : updates) {
    update_table.add({update.name.empty() ? "optimizer" : update.name, update.cost, update.schedule.str(),
                      with_thousands(static_cast<int64_t>(update.variables)),
                      with_thousands(update.parameters)});
  }
  if (frozen > 0) update_table.add({"none: frozen", "", "", "", with_thousands(frozen)});
  TextTable rate_table({"learning rate", "variables", "parameters"});
  for (const RateReport& rate : rates) {
    rate_table.add({rate.rate + " x " + shortest(rate.multiplier),
                    with_thousands(static_cast<int64_t>(rate.variables)), with_thousands(rate.parameters)});
  }
  const bool one_trains_all = updates.size() == 1 && updates[0].name.empty() && frozen == 0;
  TextTable table({"step", "value"});
  if (size.batch > 0)
    table.add({"batch x towers", with_thousands(size.batch) + " x " + std::to_string(size.towers)});
  if (!layers.empty()) {
    table.add({"parameters", with_thousands(parameters)});
    table.add({"FLOPs forward per sample",
               human_count(forward_flops / static_cast<double>(std::max<int64_t>(size.batch, 1)))});
  }
  if (step_flops > 0) table.add({"FLOPs per step and tower", human_count(step_flops)});
  for (const auto& [name, bytes] : memory.parts())
    table.add({std::string("memory: ") + name, human_bytes(bytes)});
  table.add({"memory: peak in training", human_bytes(memory.total())});
  return (layers.empty() ? "" : layer_table.str() + "\n") +
         (updates.empty() || one_trains_all ? "" : update_table.str() + "\n") +
         (rates.empty() ? "" : rate_table.str() + "\n") + table.str();
}

nlohmann::ordered_json ModelReport::to_json() const {
  nlohmann::ordered_json root;
  root["layers"] = nlohmann::ordered_json::array();
  for (const LayerReport& layer : layers) {
    root["layers"].push_back(
        {{"name", layer.name},
         {"dtype", name_of(layer.spec.dtype)},
         {"shape", std::vector<int64_t>(layer.spec.shape.sizes().begin(), layer.spec.shape.sizes().end())},
         {"parameters", layer.parameters},
         {"flops", layer.flops}});
  }
  root["updates"] = nlohmann::ordered_json::array();
  for (const UpdateReport& update : updates) {
    root["updates"].push_back({{"name", update.name},
                               {"cost", update.cost},
                               {"steps", update.schedule.steps},
                               {"round", update.schedule.round},
                               {"variables", update.variables},
                               {"parameters", update.parameters}});
  }
  root["rates"] = nlohmann::ordered_json::array();
  for (const RateReport& rate : rates) {
    root["rates"].push_back({{"rate", rate.rate},
                             {"multiplier", rate.multiplier},
                             {"variables", rate.variables},
                             {"parameters", rate.parameters}});
  }
  root["frozen"] = frozen;
  root["batch"] = size.batch;
  root["towers"] = size.towers;
  root["parameters"] = parameters;
  root["forward_flops"] = forward_flops;
  root["step_flops"] = step_flops;
  for (const auto& [name, bytes] : memory.parts()) root["memory"][name] = bytes;
  root["memory"]["total"] = memory.total();
  return root;
}

}  // namespace tpack
