#pragma once

#include <condition_variable>
#include <cstdint>
#include <exception>
#include <mutex>
#include <optional>
#include <stop_token>
#include <vector>

#include "dataflow/datapoint.h"
#include "dataflow/stage.h"
#include "dataflow/stream.h"

namespace tpack {

/// One batch of the ring.
struct BatchSlot {
  std::vector<Tensor> rows;  // memory of a whole batch in the shape of BatchData; none for single samples
  std::vector<Datapoint> kept = {};  // samples of a batch without rows, until it is made
  Datapoint batch;                   // for the reader
  Place place;                       // in the flow of batches
  DataPosition next;
  int64_t sequence = 0;  // in the stream
  int64_t samples = 0;
  int64_t bytes = 0;    // of a single sample
  int64_t claimed = 0;  // samples assigned to workers
  int64_t done = 0;
  std::exception_ptr error;  // of the first bad sample
  int64_t error_row = 0;
};

/// Slots between the workers that fill them and the reader that empties them, in the order of `sequence`.
///
/// Workers that find no free slot sleep until half of the slots are free (or the reader has to wait), so that
/// on few cores the reader is disturbed only once per several batches. Single samples are many slots; if they
/// are large, fewer wait than there are slots. One mutex guards everything; fillers keep their own state
/// under it too. Threads: any.
class SlotRing {
 public:
  explicit SlotRing(size_t slots);

  using Lock = std::unique_lock<std::mutex>;
  Lock lock() { return Lock(mutex_); }
  std::vector<BatchSlot>& slots() { return slots_; }

  // For fillers, with the lock held.
  static constexpr int64_t kMostReadyBytes = int64_t{32} << 20;  // of single samples, as long as some wait
  static constexpr size_t kSomeReady = 3;
  /// A free slot for batch `sequence` of the stream; null if there is none at the moment.
  BatchSlot* open(int64_t sequence);
  /// The slot is filled, or holds an error.
  void publish(BatchSlot& slot);
  /// The stream ends before batch `sequence`.
  void end(int64_t sequence);
  bool closed() const { return closed_; }
  /// Sleeps until something may have changed.
  void wait(Lock& lock, const std::stop_token& stop);
  void wake_workers();
  /// Ends the stream at once, with an error that belongs to no batch. Locks the mutex.
  void fail(std::exception_ptr error);

  // For the reader.
  /// Null at the end. Errors: the error of the next batch, now and in later calls; Stopped.
  BatchSlot* next(const std::stop_token& stop);
  void release(BatchSlot& slot);
  StreamStats stats() const;

 private:
  BatchSlot* take_ready();
  void count_ready();
  void wait_ready(Lock& lock, const std::stop_token& stop);

  mutable std::mutex mutex_;
  std::condition_variable_any work_;   // slots are free
  std::condition_variable_any ready_;  // the next batch is ready
  std::vector<BatchSlot> slots_;
  std::vector<BatchSlot*> free_;
  std::vector<BatchSlot*> published_;  // by sequence modulo slots; null: not yet
  std::optional<int64_t> end_;
  std::exception_ptr error_;
  int64_t head_ = 0;  // next batch for the reader
  uint64_t changes_ = 0;
  int sleeping_ = 0;  // workers
  bool reader_waits_ = false;
  bool gate_open_ = true;  // workers may open slots
  bool closed_ = false;
  double wait_s_ = 0;
  size_t ready_count_ = 0;  // published and not taken
  int64_t ready_bytes_ = 0;
  int64_t found_ = 0;
  double fill_ = 0;
};

}  // namespace tpack
