#pragma once

#include <memory>

#include <gtest/gtest.h>

#include "comm/world.h"

namespace tpack {

/// MPI can be started once per process: one world for all tests of a program, ended after the last.
class MpiWorld final : public testing::Environment {
 public:
  /// Started by the first call.
  static Comm& comm(double timeout_s = 60) {
    if (environment_->comm_ == nullptr) environment_->comm_ = make_world(timeout_s);
    return *environment_->comm_;
  }
  void TearDown() override { comm_.reset(); }

 private:
  static MpiWorld* make() {
    auto* const environment = new MpiWorld;  // GoogleTest's from here on
    testing::AddGlobalTestEnvironment(environment);
    return environment;
  }

  static inline MpiWorld* const environment_ = make();  // before main, as GoogleTest asks
  std::unique_ptr<Comm> comm_;
};

}  // namespace tpack
