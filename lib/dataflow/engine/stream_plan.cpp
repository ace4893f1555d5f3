#include "dataflow/engine/stream_plan.h"

#include <algorithm>

namespace tpack {
namespace {

/// Removes maps and reorderings down to BatchData; false if another stage comes after BatchData, or there is
/// no BatchData.
bool peel_to_batches(const Flow& flow, StreamPlan& plan) {
  const Flow* at = &flow;
  while (true) {
    const auto* map = dynamic_cast<const MapFlow*>(at);
    const auto* remapped = dynamic_cast<const RemappedFlow*>(at);
    if (map != nullptr && !map->may_drop()) {
      plan.batch_maps.insert(plan.batch_maps.begin(), map);
      at = &map->up();
    } else if (remapped != nullptr) {
      plan.batch_order.push_back(remapped);
      at = &remapped->up();
    } else {
      plan.batched = dynamic_cast<const BatchedFlow*>(at);
      return plan.batched != nullptr;
    }
  }
}

/// Leaves the part that must be read in order to `samples`, and lets workers run the maps after it.
void peel_sample_maps(StreamPlan& plan) {
  if (plan.samples->access() != Access::kSequential) return;
  plan.guard = dynamic_cast<const GuardedFlow*>(plan.samples);
  if (plan.guard != nullptr) plan.samples = &plan.guard->up();
  while (const auto* map = dynamic_cast<const MapFlow*>(plan.samples)) {
    plan.sample_maps.insert(plan.sample_maps.begin(), map);
    plan.samples = &map->up();
  }
}

}  // namespace

bool StreamPlan::drops() const {
  return guard != nullptr || (batched != nullptr && batched->has_groups()) ||
         samples->access() == Access::kFiltered ||
         std::any_of(sample_maps.begin(), sample_maps.end(), [](const MapFlow* m) { return m->may_drop(); });
}

Place StreamPlan::locate(const PassKey& pass, int64_t place) const {
  Place at{pass, place};
  for (const RemappedFlow* order : batch_order) at = order->locate(at.pass, at.index);
  return at;
}

StreamPlan plan_stream(const Flow& flow) {
  StreamPlan plan;
  if (peel_to_batches(flow, plan)) {
    plan.by_place = plan.batched->access() == Access::kIndexed;
    plan.samples = &plan.batched->up();
    if (plan.by_place) return plan;
  }
  if (plan.batched == nullptr || !plan.batch_order.empty()) plan = StreamPlan{.samples = &flow};
  peel_sample_maps(plan);
  return plan;
}

}  // namespace tpack
