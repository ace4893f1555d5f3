#pragma once

#include <memory>

#include "comm/comm.h"

namespace tpack {

/// All processes of MPI's world. Starts MPI; the destructor ends it, unless an operation has failed: then the
/// process must exit, and mpirun ends the others. Once per process. Errors: DistributedError if MPI does not
/// start, ResourceError if this build has none.
std::unique_ptr<Comm> make_mpi_comm(double timeout_s);

/// Errors: ResourceError if this build has no MPI.
void require_mpi();

/// Ends this process with the exit code of an error, upon which mpirun ends all others of the run; for a
/// process that cannot go on. Does not return.
[[noreturn]] void abort_world(int exit_code);

}  // namespace tpack
