#include "train/run.h"

#include <algorithm>

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
  for (const std::string& name : store->names(scope)) all.emplace(name, store->value(name));
  return all;
}

void Run::require_hyper_parameter(const std::string& name) const {
  if (hyper_parameters_.empty()) hyper_parameters_ = trainer_.hyper_parameters();
  if (std::find(hyper_parameters_.begin(), hyper_parameters_.end(), name) == hyper_parameters_.end())
    throw unknown_reference("hyper-parameter", name, {}, hyper_parameters_);
}

double Run::hyper_parameter(const std::string& name) const {
  require_hyper_parameter(name);
  return trainer_.hyper_parameter(name);
}

void Run::set_hyper_parameter(const std::string& name, double value) {
  require_hyper_parameter(name);
  trainer_.set_hyper_parameter(name, value);
}

TowerPlace Run::tower_place() {
  const auto place = trainer_.tower_place();
  if (!place) throw ConfigError("this trainer has no model to run on other data");
  return *place;
}

}  // namespace tpack
