#include "core/spin_then_yield.h"

#include <immintrin.h>
#include <sched.h>

namespace tpack {
namespace {

// Waking a sleeping thread takes about ten microseconds.
constexpr std::chrono::microseconds kSpin{50};
// It does not sleep at once: if a virtual processor halts, the host often moves it to the core of another
// one, where both run at two thirds of their speed.
constexpr std::chrono::duration<double> kMax{SpinThenYield::kMaxS};
constexpr int kLooks = 32;  // between two readings of the clock

}  // namespace

bool SpinThenYield::next() {
  _mm_pause();
  if (++looks_ % kLooks != 0) return true;
  const auto waited = Clock::now() - start_;
  if (waited >= kSpin) sched_yield();
  return waited < kMax;
}

}  // namespace tpack
