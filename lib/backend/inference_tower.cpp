#include "backend/inference_tower.h"

namespace tpack {

InferenceTower::InferenceTower(const TowerFunction& tower, std::unique_ptr<Device> device, Plan plan,
                               uint64_t seed)
    : tower_(tower), plan_(std::move(plan)), device_(std::move(device)) {
  Graph graph;
  Builder b(graph, table_, {Phase::kInference, device_->float_type()});
  build_tower(b, tower_, batch_specs(tower_, 1), {});
  device_->create_variables(table_);
  device_->variables().initialize(seed);
}

}  // namespace tpack
