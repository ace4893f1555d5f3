#include "backend/passes/memory.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "core/rng.h"

namespace tpack {
namespace {

bool overlap(const Lifetime& a, uint64_t at_a, const Lifetime& b, uint64_t at_b) {
  const bool in_time = a.first <= b.last && b.first <= a.last;
  return in_time && at_a < at_b + b.bytes && at_b < at_a + a.bytes;
}

uint64_t aligned(uint64_t bytes) { return (bytes + 63) / 64 * 64; }

/// The most bytes that are live at one step: no plan can need less.
uint64_t peak_bytes(const std::vector<Lifetime>& buffers) {
  uint64_t most = 0;
  for (const Lifetime& at : buffers) {
    uint64_t sum = 0;
    for (const Lifetime& other : buffers) {
      if (other.first <= at.first && at.first <= other.last) sum += aligned(other.bytes);
    }
    most = std::max(most, sum);
  }
  return most;
}

TEST(PlanMemory, reuses_memory_of_what_has_ended) {
  const MemoryPlan plan = plan_memory({{100, 0, 1}, {100, 2, 3}, {50, 0, 3}});
  EXPECT_EQ(plan.offsets[0], plan.offsets[1]);
  EXPECT_EQ(plan.bytes, 192U);
}

TEST(PlanMemory, never_lets_living_buffers_overlap) {
  Rng rng(1);
  for (int round = 0; round < 50; ++round) {
    std::vector<Lifetime> lives;
    for (int i = 0; i < 40; ++i) {
      const int first = rng.range(0, 30);
      lives.push_back({rng.below(5000), first, first + rng.range(0, 10)});
    }
    const MemoryPlan plan = plan_memory(lives);
    for (size_t a = 0; a < lives.size(); ++a) {
      EXPECT_EQ(plan.offsets[a] % 64, 0U);
      EXPECT_LE(plan.offsets[a] + lives[a].bytes, plan.bytes);
      for (size_t b = 0; b < a; ++b)
        EXPECT_FALSE(overlap(lives[a], plan.offsets[a], lives[b], plan.offsets[b]));
    }
    EXPECT_GE(plan.bytes, peak_bytes(lives));
    EXPECT_LE(plan.bytes, 2 * peak_bytes(lives));
  }
}

}  // namespace
}  // namespace tpack
