#pragma once

#include <cstdint>

#include "cpu/team.h"

namespace tpack::cpu {

/// Into how many pieces `count` items are cut: `pieces`, or one if there are not enough items to give each
/// piece `grain`.
inline int pieces_for(int pieces, int64_t count, int64_t grain) {
  return count >= pieces * grain ? pieces : 1;
}

/// Calls f(begin, end, piece) for equal, contiguous pieces of 0..count-1 on the team. The pieces depend only
/// on count, pieces and grain, so sums have one order. If there are fewer than `grain` items per piece, the
/// work is one piece on the calling thread, because a job of the team costs microseconds. `team` is not used
/// if there is only one piece.
template <class F>
void parallel_for(Team* team, int pieces, int64_t count, int64_t grain, const F& f) {
  const int used = pieces_for(pieces, count, grain);
  if (used == 1) {
    f(int64_t{0}, count, 0);
    return;
  }
  team->run(used, [&](int piece) { f(count * piece / used, count * (piece + 1) / used, piece); });
}

}  // namespace tpack::cpu
