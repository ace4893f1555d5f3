// For builds without MPI (see CMakeLists.txt).
#include <cstdlib>

#include <gtest/gtest.h>

#include "comm/mpi.h"
#include "comm/world.h"
#include "core/error.h"

namespace tpack {
namespace {

/// Sets an environment variable of mpirun while this exists.
class StartedByMpirun {
 public:
  StartedByMpirun() { setenv("OMPI_COMM_WORLD_SIZE", "2", 1); }
  ~StartedByMpirun() { unsetenv("OMPI_COMM_WORLD_SIZE"); }
  StartedByMpirun(const StartedByMpirun&) = delete;
  StartedByMpirun& operator=(const StartedByMpirun&) = delete;
};

TEST(NoMpi, is_a_resource_that_this_build_lacks) {
  const StartedByMpirun environment;
  try {
    make_world();
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kResource);
    EXPECT_STREQ(
        error.what(),
        "mpirun started this process, but this build of tpack has no MPI; build with -DTPACK_MPI=ON, or "
        "start one process without mpirun");
  }
}

TEST(NoMpi, is_not_missed_by_one_process) { EXPECT_EQ(make_world()->size(), 1); }

TEST(NoMpiDeathTest, ends_only_this_process) { EXPECT_EXIT(abort_world(7), testing::ExitedWithCode(7), ""); }

}  // namespace
}  // namespace tpack
