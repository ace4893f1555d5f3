#include "train/trainer.h"

#include "train/saved_state.h"

namespace tpack {

std::vector<std::string> Trainer::hyper_parameters() const {
  std::vector<std::string> names;
  const VariableStore* store = variables();
  if (store == nullptr) return names;
  for (const VariableSpec* variable : store->table().all()) {
    if (variable->hyper_parameter) names.push_back(variable->name);
  }
  return names;
}

double Trainer::hyper_parameter(const std::string& name) const { return variables()->number(name); }

void Trainer::set_hyper_parameter(const std::string& name, double value) {
  variables()->set_number(name, value);
}

void Trainer::save(CheckpointContent& content) const {
  if (const VariableStore* store = variables()) save_variables(*store, content);
}

void Trainer::load(const CheckpointContent& content, const std::string& source) {
  if (VariableStore* store = variables()) load_variables(content, source, *store);
}

}  // namespace tpack
