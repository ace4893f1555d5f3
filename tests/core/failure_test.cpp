#include "core/failure.h"

#include <new>
#include <stdexcept>

#include <gtest/gtest.h>

#include "core/error.h"

namespace tpack {
namespace {

template <class E>
Failure failure_of(const E& error) {
  try {
    throw error;
  } catch (...) {
    return current_failure();
  }
}

TEST(Failure, has_the_exit_code_of_the_kind_of_the_error) {
  EXPECT_EQ(failure_of(ConfigError("a")).exit_code, 2);
  EXPECT_EQ(failure_of(DataError("a")).exit_code, 3);
  EXPECT_EQ(failure_of(CheckpointError("p", "a")).exit_code, 4);
  EXPECT_EQ(failure_of(ResourceError("a")).exit_code, 5);
  EXPECT_EQ(failure_of(Diverged("a")).exit_code, 6);
  EXPECT_EQ(failure_of(DistributedError("a")).exit_code, 7);
  EXPECT_EQ(failure_of(GateMissed("a")).exit_code, 8);
  EXPECT_EQ(failure_of(RunFailed("a")).exit_code, 9);
  EXPECT_EQ(failure_of(InternalError("a")).exit_code, 1);
}

TEST(Failure, describes_foreign_exceptions) {
  EXPECT_EQ(failure_of(std::bad_alloc()).exit_code, 5);
  EXPECT_EQ(failure_of(std::runtime_error("text")).exit_code, 1);
  EXPECT_EQ(failure_of(std::runtime_error("text")).text, "text");
  EXPECT_EQ(failure_of(42).exit_code, 1);
}

}  // namespace
}  // namespace tpack
