#pragma once

#include <memory>

#include "comm/comm.h"

namespace tpack {

/// A member of a group of threads in each of several processes: tower k of T in rank r is member r * T + k.
/// Sums are first over the threads of a process, in order, then over the processes, so all members have the
/// same bits in every run. `local` is this thread's member of the group of its process; `world` is the group
/// of processes, which the first thread of each process uses. Both must outlive it.
std::unique_ptr<Comm> make_grouped_comm(Comm& local, Comm& world);

}  // namespace tpack
