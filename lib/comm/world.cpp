#include "comm/world.h"

#include <cstdlib>

#include "comm/mpi.h"
#include "comm/self_comm.h"

namespace tpack {

bool started_by_mpirun() { return std::getenv("OMPI_COMM_WORLD_SIZE") != nullptr; }

std::unique_ptr<Comm> make_world(double timeout_s) {
  return started_by_mpirun() ? make_mpi_comm(timeout_s) : make_self_comm();
}

}  // namespace tpack
