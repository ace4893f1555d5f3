#pragma once

#include <functional>
#include <stop_token>

#include "backend/device.h"
#include "backend/plan.h"
#include "backend/variable_store.h"
#include "comm/comm.h"

namespace tpack {

/// Builds programs on every rank with one plan: rank 0 chooses (and measures while the others wait), the
/// others use its choices, so that all compute the same bits. `device`: of the programs. Errors:
/// DistributedError, also if the devices of the ranks store values in different types (DeviceInfo), because a
/// plan of another program might fit by chance; errors of `build`.
void build_with_plan_of_rank_0(Comm& world, const Device& device, Plan& plan,
                               const std::function<void()>& build);

/// The stop token for a wait for data: one that never stops if other ranks depend on this one's part of the
/// step.
inline std::stop_token stop_if_alone(const Comm& world, const std::stop_token& stop) {
  return world.size() == 1 ? stop : std::stop_token();
}

/// Copies the variables of rank 0 to all, except local ones (VariableScope::kLocal). Errors:
/// DistributedError.
void broadcast_variables(Comm& world, VariableStore& store);

}  // namespace tpack
