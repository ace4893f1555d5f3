#include "train/trainer.h"

#include "train/saved_state.h"

namespace tpack {

std::vector<std::string> Trainer::hyper_parameters() const {
  const VariableStore* store = variables();
  return store != nullptr ? store->table().hyper_parameters() : std::vector<std::string>();
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
