#include "comm/self_comm.h"

#include <gtest/gtest.h>

#include "comm/checks.h"

namespace tpack {
namespace {

TEST(SelfComm, is_a_group_of_one) {
  const auto comm = make_self_comm();
  EXPECT_EQ(comm->rank(), 0);
  EXPECT_EQ(comm->size(), 1);
  check_operations(*comm);
}

}  // namespace
}  // namespace tpack
