#pragma once

#include <string>
#include <vector>

#include "core/failure.h"

namespace tpack {

/// Starts `command` as `ranks` ranks under mpirun, waits for them, and returns the exit code of the run: the
/// code of the rank that failed first, whose error is the last line on stderr, or 7 if a rank was ended by
/// something else; the message then names the rank, the signal and its stage. The first SIGINT, SIGTERM or
/// SIGHUP goes to all ranks as SIGTERM, and the code is 128 + its number. After a rank was lost, ranks that
/// have not ended ten seconds later are killed. Errors: ConfigError inside mpirun, ResourceError if mpirun
/// cannot be started.
int launch_ranks(int ranks, const std::vector<std::string>& command);

/// In a rank started by launch_ranks: binds the calling thread, and threads that it will start, to the rank's
/// part of the processors; more ranks than processors share them. Does nothing in other processes.
void bind_launched_rank();
/// True in such a rank.
bool started_by_procs();
/// Passes the failure of such a rank to the process that started it, which reports it after all have ended,
/// if no rank failed before; false in other processes.
bool hand_to_launcher(int rank, int ranks, const Failure& failure);
/// Tells that process that a signal ended such a rank (0: the signal of another rank); false in other
/// processes.
bool tell_launcher_of_interrupt(int ranks, int signal);

}  // namespace tpack
