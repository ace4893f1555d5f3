#pragma once

#include "dataflow/engine/stream_engine.h"
#include "dataflow/engine/ticket.h"

namespace tpack {

/// Writes the items of tickets, in order, into the slots of a ring, and counts the batches that other readers
/// take. Threads: one at a time, with the ring's lock, which is released while samples are copied.
class BatchAssembler {
 public:
  BatchAssembler(const StreamPlan& plan, const StreamOptions& options, SlotRing& ring);

  /// Returns early if the stream is stopped.
  void add(Ticket& t, SlotRing::Lock& lock, const std::stop_token& stop);
  /// True after the end of the stream; later items are not needed.
  bool finished() const { return finished_; }

 private:
  bool ours() const;
  bool open_slot(const PassKey& pass, SlotRing::Lock& lock, const std::stop_token& stop);
  std::exception_ptr copy_items(Ticket& t, size_t& at) const;
  void add_to_groups(Ticket& t, SlotRing::Lock& lock, const std::stop_token& stop);
  bool end_batch_of(std::vector<Datapoint>& samples, const PassKey& pass, SlotRing::Lock& lock,
                    const std::stop_token& stop);
  void end_batch(SlotRing::Lock& lock);
  void end_pass(const PassKey& pass, SlotRing::Lock& lock, const std::stop_token& stop);
  void fail(const std::exception_ptr& error, const PassKey& pass, SlotRing::Lock& lock,
            const std::stop_token& stop);

  const StreamPlan& plan_;
  const StreamOptions options_;
  SlotRing& ring_;
  const int64_t batch_size_;  // 1 for single samples
  int64_t number_;            // of the batch being filled, from the stream's position; negative: before it
  int64_t index_ = 0;         // of the batch being filled, in its pass
  int64_t sequence_ = 0;      // of this reader's next batch
  mutable int64_t filled_ = 0;
  std::optional<SampleGroups> groups_;  // for batches with groups
  BatchSlot* slot_ = nullptr;           // null: none yet, or another reader's batch
  bool finished_ = false;
  PartTimes* times_ = nullptr;  // of the ticket that is added
};

}  // namespace tpack
