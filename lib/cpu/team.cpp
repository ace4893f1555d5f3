#include "cpu/team.h"

#include <bit>
#include <pthread.h>
#include <system_error>
#include <utility>

#include "core/error.h"
#include "core/spin_then_yield.h"
#include "cpu/compute_mode.h"
#include "cpu/onednn/onednn.h"

namespace tpack::cpu {
namespace {

uint64_t bit(int piece) { return uint64_t{1} << static_cast<unsigned>(piece); }

/// Returns when the value differs from `old`: soon, or after a sleep.
template <class T>
T wait_for_change(const std::atomic<T>& value, T old) {
  for (SpinThenYield wait;;) {
    const T now = value.load(std::memory_order_acquire);
    if (now != old) return now;
    if (wait.next()) continue;
    value.wait(old, std::memory_order_acquire);
  }
}

}  // namespace

Team::Team(int threads) {
  try {
    while (this->threads() < threads) {
      threads_.emplace_back([this, thread = this->threads()] {
        pthread_setname_np(pthread_self(), "compute");
        serve(thread);
      });
    }
  } catch (const std::system_error& failure) {
    const int started = this->threads();
    end();
    throw ResourceError("cannot start thread " + std::to_string(started + 1) + " of " +
                        std::to_string(threads) + ": " + failure.what() +
                        "; set engine.threads to a smaller number");
  }
}

Team::~Team() { end(); }

void Team::end() {
  ending_ = true;
  ++round_;
  round_.notify_all();
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
}

void Team::run_job(int pieces, PieceCall call, const void* f) {
  TPACK_ASSERT(pieces >= 1 && pieces <= kMaxPieces, "a job of " + std::to_string(pieces) + " pieces");
  call_ = call;
  function_ = f;
  left_.store(pieces, std::memory_order_relaxed);
  free_.store((bit(pieces - 1) - 1) << 1, std::memory_order_release);  // all but the caller's own, the first
  if (!threads_.empty() && pieces > 1) {
    round_.fetch_add(1, std::memory_order_release);
    round_.notify_all();
  }
  compute(0);
  left_.fetch_sub(1, std::memory_order_acq_rel);
  work(0);
  for (int left = left_.load(std::memory_order_acquire); left > 0;) left = wait_for_change(left_, left);
  if (!has_error_.test(std::memory_order_acquire)) return;
  has_error_.clear();
  std::rethrow_exception(std::exchange(error_, nullptr));
}

void Team::serve(int thread) {
  const ComputeMode mode;
  use_one_onednn_thread();
  uint32_t round = 0;
  while (next_job(round)) work(thread);
}

void Team::submit_call(Call call, const void* f) {
  const ComputeMode mode;
  use_one_onednn_thread();
  call(f);
}

void Team::assist(const std::atomic<uint32_t>& turn, uint32_t old) {
  const ComputeMode mode;
  use_one_onednn_thread();
  const auto is_over = [&] { return turn.load(std::memory_order_acquire) != old; };
  const auto has_work = [&] { return free_.load(std::memory_order_acquire) != 0; };
  while (!is_over()) {
    work(threads());
    for (SpinThenYield wait; !is_over() && !has_work();) {
      if (wait.next()) continue;
      turn.wait(old, std::memory_order_acquire);
      return;
    }
  }
}

/// Waits for another round; false at the end.
bool Team::next_job(uint32_t& round) {
  round = wait_for_change(round_, round);
  return !ending_.load(std::memory_order_acquire);
}

/// Takes pieces as long as there are any.
void Team::work(int thread) {
  const uint64_t own = thread < kMaxPieces ? bit(thread) : 0;
  for (uint64_t free = free_.load(std::memory_order_acquire); free != 0;) {
    const int piece = (free & own) != 0 ? thread : std::countr_zero(free);
    if (!free_.compare_exchange_weak(free, free & ~bit(piece), std::memory_order_acq_rel)) continue;
    compute(piece);
    // The last one wakes the caller. From here on the next job may begin.
    if (left_.fetch_sub(1, std::memory_order_acq_rel) == 1 && thread != 0) left_.notify_one();
    free = free_.load(std::memory_order_acquire);
  }
}

void Team::compute(int piece) noexcept {
  try {
    call_(function_, piece);
  } catch (...) {
    if (!has_error_.test_and_set(std::memory_order_acq_rel)) error_ = std::current_exception();
  }
}

}  // namespace tpack::cpu
