#pragma once

#include "backend/device.h"
#include "graph/tower_function.h"

namespace tpack {

/// A tower function and the device with its variables: everything needed to run it. Borrowed from a trainer,
/// or from an InferenceTower.
struct ModelHandle {
  const TowerFunction* tower = nullptr;
  Device* device = nullptr;
  VariableTable* table = nullptr;
  Plan* plan = nullptr;
};

}  // namespace tpack
