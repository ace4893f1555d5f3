#include "backend/passes/memory.h"

#include <algorithm>
#include <numeric>

namespace tpack {
namespace {

struct Placed {
  uint64_t begin;
  uint64_t end;
  Lifetime life;
};

bool meet(const Lifetime& a, const Lifetime& b) { return a.first <= b.last && b.first <= a.last; }

/// The smallest gap that holds `life` among the buffers placed so far (sorted by begin), or the end.
uint64_t best_offset(const std::vector<Placed>& placed, const Lifetime& life) {
  const uint64_t wanted = aligned(life.bytes);
  uint64_t cursor = 0;
  uint64_t best = UINT64_MAX;
  uint64_t best_gap = UINT64_MAX;
  for (const Placed& other : placed) {
    if (!meet(other.life, life)) continue;
    if (other.begin >= cursor + wanted && other.begin - cursor < best_gap) {
      best = cursor;
      best_gap = other.begin - cursor;
    }
    cursor = std::max(cursor, other.end);
  }
  return best == UINT64_MAX ? cursor : best;
}

}  // namespace

MemoryPlan plan_memory(const std::vector<Lifetime>& buffers) {
  std::vector<size_t> order(buffers.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return buffers[a].bytes > buffers[b].bytes; });
  MemoryPlan plan;
  plan.offsets.resize(buffers.size());
  std::vector<Placed> placed;
  for (const size_t i : order) {
    const uint64_t offset = best_offset(placed, buffers[i]);
    const Placed mine{offset, offset + aligned(buffers[i].bytes), buffers[i]};
    const auto place = std::lower_bound(placed.begin(), placed.end(), mine,
                                        [](const Placed& a, const Placed& b) { return a.begin < b.begin; });
    placed.insert(place, mine);
    plan.offsets[i] = offset;
    plan.bytes = std::max(plan.bytes, mine.end);
  }
  return plan;
}

}  // namespace tpack
