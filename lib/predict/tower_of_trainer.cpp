#include "predict/tower_of_trainer.h"

namespace tpack {
namespace {

TowerOfTrainer& finder() {
  static TowerOfTrainer find = nullptr;
  return find;
}

}  // namespace

TowersOfTrainers::TowersOfTrainers(TowerOfTrainer find) { finder() = find; }

std::unique_ptr<TowerFunction> tower_of_trainer(const ConfigNode& config, const CheckpointContent& content,
                                                const std::string& source, Diagnostics& errors) {
  const ConfigNode* trainer = config.find("trainer");
  return trainer == nullptr || finder() == nullptr ? nullptr : finder()(*trainer, content, source, errors);
}

}  // namespace tpack
