#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <thread>
#include <vector>

#include "backend/engine/kernel.h"
#include "backend/plan.h"

namespace tpack::cpu {

/// The threads that a device computes with. A job is cut into pieces, and the next free thread takes the next
/// piece. The calling thread works too, and a thread that lost its processor to another process delays only
/// its current piece. Thread i takes piece i first if it is free, because its cache has that part of the
/// data. The result of a piece must not depend on the thread that computes it; then results depend only on
/// the cut, not on the number of threads. Threads wait as in SpinThenYield and then sleep. Threads: one job
/// at a time, from any thread. The threads have the CPU affinity of the thread that created the team.
class Team final : public KernelQueue {
 public:
  /// `threads`: including the calling one, at least 1. Errors: ResourceError if the system rejects more
  /// threads.
  explicit Team(int threads);
  ~Team() override;
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;

  int threads() const override { return static_cast<int>(threads_.size()) + 1; }

  static constexpr int kMaxPieces = PlanSection::kMaxPieces;

  /// Calls f(piece) once for each piece of 0..pieces-1 (at most kMaxPieces), in any order and on any thread;
  /// returns when all are done. Errors: the first exception that a piece throws; the other pieces are still
  /// computed.
  template <class F>
  void run(int pieces, const F& f) {
    run_job(
        pieces, [](const void* g, int piece) { (*static_cast<const F*>(g))(piece); }, &f);
  }
  /// The calling thread, from outside the team, computes pieces of another thread's jobs until `turn` differs
  /// from `old`. If jobs are rare, it sleeps until then.
  void assist(const std::atomic<uint32_t>& turn, uint32_t old) override;

 private:
  using PieceCall = void (*)(const void* f, int piece);

  /// Runs in the ComputeMode of kernels, with one oneDNN thread.
  void submit_call(Call call, const void* f) override;

  void run_job(int pieces, PieceCall call, const void* f);
  void serve(int thread);
  bool next_job(uint32_t& round);
  void work(int thread);
  void compute(int piece) noexcept;
  void end();

  // The job. A thread reads these only while it holds a piece, and they change only when no piece is left.
  PieceCall call_ = nullptr;
  const void* function_ = nullptr;
  std::exception_ptr error_;
  std::atomic_flag has_error_;

  // Each on its own cache line: all threads write to them.
  alignas(64) std::atomic<uint64_t> free_ = 0;   // one bit per piece that is not taken
  alignas(64) std::atomic<int> left_ = 0;        // pieces that are not done
  alignas(64) std::atomic<uint32_t> round_ = 0;  // counts jobs
  std::atomic<bool> ending_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace tpack::cpu
