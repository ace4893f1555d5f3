#pragma once

#include <memory>

#include "comm/comm.h"

namespace tpack {

/// True if mpirun started this process: OMPI_COMM_WORLD_SIZE is set.
bool started_by_mpirun();

/// All processes of this run: over MPI if mpirun started them, else the group of one (MPI is then never
/// touched). Once per process. Errors: ResourceError if mpirun was used and this build has no MPI,
/// DistributedError if MPI does not start.
std::unique_ptr<Comm> make_world(double timeout_s = Comm::kDefaultTimeoutS);

}  // namespace tpack
