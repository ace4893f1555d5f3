#pragma once

#include <memory>
#include <stop_token>

#include "core/thread_pool.h"
#include "dataflow/engine/slot_ring.h"
#include "dataflow/engine/stream_plan.h"

namespace tpack {

/// The work of a stream's threads: filling slots of the ring until the stream ends or is stopped.
class Filler {
 public:
  virtual ~Filler() = default;
  /// The loop of one worker. Errors of samples go into their slots and never leave this function.
  virtual void run(const std::stop_token& stop) = 0;
};

/// `times` may be null.
std::unique_ptr<Filler> make_place_filler(const StreamPlan& plan, const Flow& flow,
                                          const StreamOptions& options, SlotRing& ring, PartTimes* times);
std::unique_ptr<Filler> make_order_filler(const StreamPlan& plan, const StreamOptions& options,
                                          SlotRing& ring, PartTimes* times);

/// A stream's threads and everything they need. The destructor stops and joins them.
class StreamEngine {
 public:
  /// `times` may be null.
  StreamEngine(FlowPtr flow, const StreamOptions& options, std::shared_ptr<SlotRing> ring, PartTimes* times);

 private:
  void work(const std::stop_token& stop);

  FlowPtr flow_;
  std::shared_ptr<SlotRing> ring_;
  StreamPlan plan_;
  std::unique_ptr<Filler> filler_;
  ThreadPool workers_;  // last: joined first
};

/// Writes a sample to row `row` of the slot, or keeps it there if the batches have no rows. Errors:
/// SampleError if its shape differs from that of the rows.
void store_sample(Datapoint& sample, const BatchedFlow& batched, BatchSlot& slot, int64_t row);

/// Makes `slot.batch` from its filled rows, or from its kept samples, and runs the maps after BatchData;
/// their error goes into the slot.
void finish_batch(BatchSlot& slot, const StreamPlan& plan, uint64_t seed);

/// The number of items that a worker takes at once, from the measured time per item: enough for about 0.2 ms,
/// so that distribution costs nothing and no worker waits long for another. Guarded by the ring's lock.
class ChunkSize {
 public:
  void measured(int64_t items, double seconds);
  int64_t next(int64_t most) const;

 private:
  double item_s_ = 0;  // moving average; 0: nothing measured yet
};

}  // namespace tpack
