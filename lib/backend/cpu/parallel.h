#pragma once

#include <algorithm>
#include <cstdint>
#include <omp.h>

namespace tpack::cpu {

/// All threads, or one where there are not enough of `count` items to give each `grain`. Never a part of the
/// team: OpenMP ends the threads that a smaller team leaves over, and starts them again later.
inline int threads_for(int threads, int64_t count, int64_t grain) {
  return count >= threads * grain ? threads : 1;
}

/// Calls f(begin, end, thread) for `threads` equal, contiguous parts of 0..count-1 on the one OpenMP team
/// that oneDNN uses too. What a thread gets depends on count and threads alone, so sums have one order. Work
/// smaller than `grain` items a thread runs on the calling thread: waking a team costs microseconds.
template <class F>
void parallel_for(int threads, int64_t count, int64_t grain, const F& f) {
  const int used = threads_for(threads, count, grain);
  if (used == 1) {
    f(int64_t{0}, count, 0);
    return;
  }
#pragma omp parallel num_threads(used)
  {
    // OMP_THREAD_LIMIT may make the team smaller than asked for: the parts stay, some threads take several.
    const int team = omp_get_num_threads();
    for (int part = omp_get_thread_num(); part < used; part += team)
      f(count * part / used, count * (part + 1) / used, part);
  }
}

}  // namespace tpack::cpu
