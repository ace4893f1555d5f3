#pragma once

#include <memory>

#include "backend/model_handle.h"
#include "backend/program.h"

namespace tpack {

/// A tower function on a separate device, for inference without an optimizer and a trainer. Its variables
/// have their initial values until load_weights changes them. Threads: one caller.
class InferenceTower {
 public:
  /// `plan`: choices of an earlier run, such as a checkpoint's; `seed`: of the initial values. Errors:
  /// ConfigError, ShapeError, ResourceError.
  InferenceTower(const TowerFunction& tower, std::unique_ptr<Device> device, Plan plan = {},
                 uint64_t seed = 0);
  InferenceTower(const InferenceTower&) = delete;
  InferenceTower& operator=(const InferenceTower&) = delete;

  VariableStore& variables() { return device_->variables(); }
  const VariableStore& variables() const { return device_->variables(); }
  ModelHandle handle() { return {&tower_, device_.get(), &table_, &plan_}; }

 private:
  const TowerFunction& tower_;
  VariableTable table_;
  Plan plan_;
  std::unique_ptr<Device> device_;
};

}  // namespace tpack
