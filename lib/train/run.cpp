#include "train/run.h"

#include "core/error.h"

namespace tpack {

Run::Run(Trainer& trainer, Monitors& monitors, RunLength length, std::string folder,
         const std::map<std::string, DataFlow>& flows, uint64_t seed, bool is_chief)
    : trainer_(trainer),
      monitors_(monitors),
      length_(length),
      folder_(std::move(folder)),
      flows_(flows),
      seed_(seed),
      is_chief_(is_chief),
      epoch_(length.starting_epoch - 1) {}

std::map<std::string, Tensor> Run::variables(VariableScope scope) {
  std::map<std::string, Tensor> all;
  VariableStore* store = trainer_.variables();
  if (store == nullptr) return all;
  for (const std::string& name : store->names(scope)) all.emplace(name, store->tensor(name));
  return all;
}

std::vector<std::string> Run::hyper_parameters() {
  std::vector<std::string> names;
  const auto add = [&](const std::string& name, const Shape& shape) {
    if (shape.rank() == 0) names.push_back(name);
  };
  if (const auto place = trainer_.tower_place()) {  // declared before there are values
    for (const VariableSpec* variable : place->table->all())
      if (variable->scope == VariableScope::kOptimizer) add(variable->name, variable->spec.shape);
    return names;
  }
  for (const auto& [name, value] : variables(VariableScope::kOptimizer)) add(name, value.shape());
  return names;
}

double Run::hyper_parameter(const std::string& name) {
  VariableStore* store = trainer_.variables();
  if (store != nullptr && store->has(name)) {
    const Tensor value = store->tensor(name);
    if (value.shape().rank() == 0) return value.at(0);
  }
  throw unknown_reference("hyper-parameter", name, {}, hyper_parameters());
}

void Run::set_hyper_parameter(const std::string& name, double value) {
  hyper_parameter(name);  // checks the name
  trainer_.set_scalar(name, value);
}

TowerPlace Run::tower_place() {
  const auto place = trainer_.tower_place();
  if (!place) throw ConfigError("this trainer has no model that could be run on other data");
  return *place;
}

}  // namespace tpack
