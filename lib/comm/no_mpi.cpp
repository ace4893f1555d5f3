#include <cstdlib>

#include "comm/mpi.h"
#include "core/error.h"

namespace tpack {

std::unique_ptr<Comm> make_mpi_comm(double /*timeout_s*/) {
  throw DistributedError(
      "this process was started by mpirun, but this build has no MPI; build with -DTPACK_MPI=ON");
}

void abort_world(int exit_code) { std::_Exit(exit_code); }

}  // namespace tpack
