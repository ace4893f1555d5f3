#include "comm/world.h"

#include <cstdlib>

#include <gtest/gtest.h>

namespace tpack {
namespace {

TEST(World, is_this_process_alone_without_mpirun) {
  if (started_by_mpirun()) GTEST_SKIP() << "started by mpirun";
  const auto comm = make_world();
  EXPECT_EQ(comm->size(), 1);
  EXPECT_EQ(comm->rank(), 0);
}

TEST(World, can_be_made_again_if_it_is_alone) {
  if (started_by_mpirun()) GTEST_SKIP() << "started by mpirun";
  make_world();
  EXPECT_EQ(make_world()->size(), 1);
}

}  // namespace
}  // namespace tpack
