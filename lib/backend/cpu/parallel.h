#pragma once

#include <algorithm>
#include <cstdint>
#include <omp.h>

namespace tpack::cpu {

/// Threads worth waking for `count` items of which one should take at least `grain`.
inline int threads_for(int threads, int64_t count, int64_t grain) {
  return static_cast<int>(std::clamp<int64_t>(count / std::max<int64_t>(grain, 1), 1, threads));
}

/// Calls f(begin, end, thread) for `threads` equal, contiguous parts of 0..count-1 on the one OpenMP team
/// that oneDNN uses too. What a thread gets depends on count and threads alone, so sums have one order. Work
/// smaller than `grain` items a thread runs on fewer threads: waking a team costs microseconds.
template <class F>
void parallel_for(int threads, int64_t count, int64_t grain, const F& f) {
  const int used = threads_for(threads, count, grain);
  if (used == 1) {
    f(int64_t{0}, count, 0);
    return;
  }
#pragma omp parallel num_threads(used)
  {
    const int thread = omp_get_thread_num();
    f(count * thread / used, count * (thread + 1) / used, thread);
  }
}

}  // namespace tpack::cpu
