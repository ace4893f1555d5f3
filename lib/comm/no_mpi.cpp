#include <cstdlib>

#include "comm/mpi.h"
#include "core/error.h"

namespace tpack {

std::unique_ptr<Comm> make_mpi_comm(double /*timeout_s*/) {
  throw ResourceError(
      "mpirun started this process, but this build of tpack has no MPI; build with -DTPACK_MPI=ON, or start "
      "one process without mpirun");
}

void require_mpi() {
  throw ResourceError("this build of tpack has no MPI; build with -DTPACK_MPI=ON, or train in one process");
}

void abort_world(int exit_code) { std::_Exit(exit_code); }

}  // namespace tpack
