#pragma once

#include <memory>

#include "comm/comm.h"

namespace tpack {

/// All processes of MPI's world. Starts MPI; the destructor ends it, unless an operation has failed: then the
/// process is to exit, and mpirun ends the others. Once a process. Errors: DistributedError where MPI does
/// not start, ResourceError where this build has none.
std::unique_ptr<Comm> make_mpi_comm(double timeout_s);

/// Ends all processes of the run with this exit code; for a process that cannot go on. Rank 0 does it at
/// once, the others a little later, in case it does. Does not return.
[[noreturn]] void abort_world(int exit_code);

}  // namespace tpack
