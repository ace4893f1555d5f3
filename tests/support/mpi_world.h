#pragma once

#include <memory>

#include <gtest/gtest.h>

#include "comm/world.h"

namespace tpack {

/// MPI can be started only once per process: all tests of a program share one world, which ends after the
/// last test.
class MpiWorld final : public testing::Environment {
 public:
  /// The first call starts it.
  static Comm& comm(double timeout_s = 60) {
    if (environment_->comm_ == nullptr) environment_->comm_ = make_world(timeout_s);
    return *environment_->comm_;
  }
  void TearDown() override { comm_.reset(); }

 private:
  static MpiWorld* make() {
    auto* const environment = new MpiWorld;  // owned by GoogleTest from here on
    testing::AddGlobalTestEnvironment(environment);
    return environment;
  }

  static inline MpiWorld* const environment_ = make();  // before main, as GoogleTest asks
  std::unique_ptr<Comm> comm_;
};

}  // namespace tpack
