#include "train/trainer.h"

#include "train/saved_state.h"

namespace tpack {

void Trainer::save(CheckpointContent& content) const {
  if (const VariableStore* store = part<TrainedVariables>().variables()) save_variables(*store, content);
}

void Trainer::load(const CheckpointContent& content, const std::string& source) {
  if (VariableStore* store = part<TrainedVariables>().variables()) load_variables(content, source, *store);
}

}  // namespace tpack
