#pragma once

#include <memory>
#include <string>

#include "checkpoint/checkpoint.h"
#include "core/config_node.h"
#include "core/error.h"
#include "graph/tower_function.h"

namespace tpack {

/// The tower of a checkpoint whose config has no model, because its trainer makes the model itself. Null if
/// there is none; also in programs without trainers.
std::unique_ptr<TowerFunction> tower_of_trainer(const ConfigNode& config, const CheckpointContent& content,
                                                const std::string& source, Diagnostics& errors);

/// The function that makes these towers; the library of trainers sets it when it is loaded.
using TowerOfTrainer = std::unique_ptr<TowerFunction> (*)(const ConfigNode& trainer,
                                                          const CheckpointContent& content,
                                                          const std::string& source, Diagnostics& errors);
class TowersOfTrainers {
 public:
  explicit TowersOfTrainers(TowerOfTrainer find);
};

}  // namespace tpack
