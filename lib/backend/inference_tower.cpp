#include "backend/inference_tower.h"

#include "graph/tower_description.h"

namespace tpack {

InferenceTower::InferenceTower(const TowerFunction& tower, std::unique_ptr<Device> device, Plan plan,
                               uint64_t seed)
    : tower_(tower), plan_(std::move(plan)), device_(std::move(device)) {
  table_ = tower_.description({Phase::kInference, device_->float_type()}, batch_specs(tower_, 1)).variables();
  device_->create_variables(table_);
  device_->variables().initialize(seed);
}

}  // namespace tpack
