#pragma once

#include <string>
#include <vector>

#include "core/failure.h"

namespace tpack {

/// Starts `command` as so many ranks under mpirun, waits for them, and gives the exit code of the run: that
/// of the rank that failed first, whose error is the last line on stderr, or 7 if a rank was ended by
/// something else; the message then names the rank, the signal and where it was. The first SIGINT, SIGTERM or
/// SIGHUP goes to all ranks as SIGTERM, and the code is 128 + its number. When a rank was lost, those that
/// have not ended ten seconds later are killed. Errors: ConfigError inside of mpirun, ResourceError if mpirun
/// cannot be started.
int launch_ranks(int ranks, const std::vector<std::string>& command);

/// In a rank that launch_ranks started: binds the calling thread, and those that it will start, to the rank's
/// part of the processors; ranks that are more than the processors take turns. Nothing in other processes.
void bind_launched_rank();
/// True in such a rank.
bool started_by_procs();
/// Gives the failure of such a rank to the process that started it, which reports it once all have ended, if
/// no rank has failed before; false in other processes.
bool hand_to_launcher(int rank, int ranks, const Failure& failure);
/// Tells that process that a signal has ended such a rank, 0: that of another rank; false in other processes.
bool tell_launcher_of_interrupt(int ranks, int signal);

}  // namespace tpack
