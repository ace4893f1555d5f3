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

const VariableTable* Run::table() {
  if (const auto place = trainer_.tower_place()) return place->table;  // declared before there are values
  const VariableStore* store = trainer_.variables();
  return store != nullptr ? &store->table() : nullptr;
}

std::vector<std::string> Run::hyper_parameters() {
  std::vector<std::string> names;
  if (const VariableTable* all = table()) {
    for (const VariableSpec* variable : all->all())
      if (variable->hyper_parameter) names.push_back(variable->name);
  }
  return names;
}

double Run::hyper_parameter(const std::string& name) {
  const VariableStore* store = trainer_.variables();
  const VariableSpec* variable = store != nullptr ? store->table().find(name) : nullptr;
  if (variable == nullptr || !variable->hyper_parameter)
    throw unknown_reference("hyper-parameter", name, {}, hyper_parameters());
  return store->tensor(name).at(0);
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
