#include "reports/model_report.h"

#include <algorithm>
#include <cstdio>
#include <map>
#include <unordered_map>

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

/// Finds layers by the paths of nodes.
class LayersByPath {
 public:
  explicit LayersByPath(std::vector<LayerReport>& layers) {
    for (LayerReport& layer : layers) by_name_.emplace(layer.name, &layer);
  }
  /// The layer with the longest name that is a prefix of a path; null if there is none.
  LayerReport* owner_of(std::string path) const {
    while (!path.empty()) {
      if (const auto found = by_name_.find(path); found != by_name_.end()) return found->second;
      const size_t slash = path.rfind('/');
      path.resize(slash == std::string::npos ? 0 : slash);
    }
    return nullptr;
  }

 private:
  std::unordered_map<std::string, LayerReport*> by_name_;
};

/// The output of each layer for a batch.
void add_layers(const TowerFunction& tower, const Signature& fed, DType type, ModelReport& report) {
  const TowerDescription& described = tower.description({Phase::kTraining, type}, fed);
  for (const auto& [name, value] : described.outputs_in_order())
    report.layers.push_back({name, value.spec()});
  const LayersByPath layers(report.layers);
  // If a network is called several times, its variables count at the first call.
  for (const auto& [variable, value] : trainable_reads(described.graph(), described.variables())) {
    report.parameters += variable->spec.shape.elements();
    LayerReport* layer = layers.owner_of(value.node->path);
    if (layer != nullptr) layer->parameters += variable->spec.shape.elements();
  }
  for (const auto& node : described.graph().nodes()) {
    const double flops = node->op->flops(*node);
    report.forward_flops += flops;
    LayerReport* layer = layers.owner_of(node->path);
    if (layer != nullptr) layer->flops += flops;
  }
}

/// The types of the compiled programs, by layer.
void add_types(const std::vector<NamedExecutable>& programs, ModelReport& report) {
  constexpr std::string_view kGradient = "gradient/";  // the scope of nodes that backward adds
  const LayersByPath layers(report.layers);
  for (const NamedExecutable& program : programs) {
    for (const NodeTypes& node : program.executable->report().types) {
      std::string path = node.path;
      while (path.starts_with(kGradient)) path.erase(0, kGradient.size());
      LayerReport* const layer = layers.owner_of(path);
      const auto count = [&](ProductCount& products) {
        products.all += node.factors.empty() ? 0 : 1;
        // Next to a factor of 16 bits, the kernel rounds a float32 one.
        products.in_half += std::ranges::any_of(node.factors, is_half) ? 1 : 0;
      };
      count(report.products);
      if (layer == nullptr) continue;
      count(layer->products);
      if (path != node.path) continue;
      for (const TensorSpec& result : node.results)
        if (is_float(result.dtype) && result.shape == layer->spec.shape) layer->stored.insert(result.dtype);
    }
  }
}

std::string stored_text(const LayerReport& layer) {
  std::vector<std::string> names;
  for (const DType type : layer.stored) names.emplace_back(name_of(type));
  return join(names, ", ");
}

nlohmann::ordered_json json_of(const ProductCount& products) {
  return {{"all", products.all}, {"in_half", products.in_half}};
}

/// "3 of 4".
std::string text_of(const ProductCount& products) {
  return std::to_string(products.in_half) + " of " + std::to_string(products.all);
}

/// In a precision other than fp32 with the types that the compiled programs have.
TextTable table_of(const std::vector<LayerReport>& layers, Precision precision) {
  const bool has_casts = precision != Precision::kFp32;
  std::vector<std::string> header = {"layer", "output", "parameters", "FLOPs"};
  if (has_casts)
    header.insert(header.end(), {"stored as", name_of(factor_type(precision)) + std::string(" products")});
  TextTable table(std::move(header));
  for (const LayerReport& layer : layers) {
    std::vector<std::string> row = {layer.name, layer.spec.str(), with_thousands(layer.parameters),
                                    human_count(layer.flops)};
    if (has_casts)
      row.insert(row.end(), {stored_text(layer), layer.products.all > 0 ? text_of(layer.products) : ""});
    table.add(std::move(row));
  }
  return table;
}

nlohmann::ordered_json json_of(const LayerReport& layer, Precision precision) {
  nlohmann::ordered_json row = {
      {"name", layer.name},
      {"dtype", name_of(layer.spec.dtype)},
      {"shape", std::vector<int64_t>(layer.spec.shape.sizes().begin(), layer.spec.shape.sizes().end())},
      {"parameters", layer.parameters},
      {"flops", layer.flops}};
  if (precision == Precision::kFp32) return row;
  row["stored"] = nlohmann::ordered_json::array();
  for (const DType type : layer.stored) row["stored"].push_back(name_of(type));
  row["products"] = json_of(layer.products);
  return row;
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
  const std::vector<NamedExecutable> programs = e.trainer->part<StepPrograms>().programs();
  for (const NamedExecutable& program : programs) report.step_flops += program.executable->report().flops;
  report.precision = e.config.engine.precision;
  add_types(programs, report);
  report.memory = report_memory(checked);
  return report;
}

std::string ModelReport::str() const {
  const bool has_casts = precision != Precision::kFp32;
  const std::string half = name_of(factor_type(precision));
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
  if (has_casts) {
    const auto stored = std::ranges::count_if(layers, [](const auto& one) { return !one.stored.empty(); });
    const auto in_half = std::ranges::count_if(
        layers, [](const auto& one) { return std::ranges::any_of(one.stored, is_half); });
    table.add({half + " products", text_of(products)});
    table.add({"outputs stored as " + half, std::to_string(in_half) + " of " + std::to_string(stored)});
  }
  for (const auto& [name, bytes] : memory.parts())
    table.add({std::string("memory: ") + name, human_bytes(bytes)});
  table.add({"memory: peak in training", human_bytes(memory.total())});
  return (layers.empty() ? "" : table_of(layers, precision).str() + "\n") +
         (updates.empty() || one_trains_all ? "" : update_table.str() + "\n") +
         (rates.empty() ? "" : rate_table.str() + "\n") + table.str();
}

nlohmann::ordered_json ModelReport::to_json() const {
  nlohmann::ordered_json root;
  root["layers"] = nlohmann::ordered_json::array();
  for (const LayerReport& layer : layers) root["layers"].push_back(json_of(layer, precision));
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
  if (precision != Precision::kFp32) {
    root["precision"] = name_of(precision);
    root["products"] = json_of(products);
  }
  for (const auto& [name, bytes] : memory.parts()) root["memory"][name] = bytes;
  root["memory"]["total"] = memory.total();
  return root;
}

}  // namespace tpack
