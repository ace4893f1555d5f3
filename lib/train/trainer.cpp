#include "train/trainer.h"

#include "predict/tower_of_trainer.h"
#include "train/saved_state.h"

namespace tpack {
namespace {

const TowersOfTrainers kTowers([](const ConfigNode& item, const CheckpointContent& content,
                                  const std::string& source,
                                  Diagnostics& errors) -> std::unique_ptr<TowerFunction> {
  const auto trainer = Registry<Trainer>::make(item, errors);
  return trainer ? trainer->part<TrainedModel>().stored_tower(content, source) : nullptr;
});

}  // namespace

void Trainer::save(CheckpointContent& content) const {
  if (const VariableStore* store = part<TrainedVariables>().variables()) save_variables(*store, content);
}

void Trainer::load(const CheckpointContent& content, const std::string& source) {
  if (VariableStore* store = part<TrainedVariables>().variables()) load_variables(content, source, *store);
}

}  // namespace tpack
