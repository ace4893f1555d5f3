#include "dataflow/engine/batch_assembler.h"

#include <algorithm>

namespace tpack {

BatchAssembler::BatchAssembler(const StreamPlan& plan, const StreamOptions& options, SlotRing& ring)
    : plan_(plan),
      options_(options),
      ring_(ring),
      batch_size_(std::max<int64_t>(plan.batch_size(), 1)),
      number_(plan.drops() ? -options.position.index : 0) {
  if (plan.batched != nullptr && plan.batched->has_groups()) groups_.emplace(*plan.batched);
}

void BatchAssembler::add(Ticket& t, SlotRing::Lock& lock, const std::stop_token& stop) {
  if (t.begins_pass) index_ = t.skipped_batches;
  times_ = t.times;
  if (groups_) return add_to_groups(t, lock, stop);
  for (size_t at = 0; at < t.count;) {
    if (ours() && !open_slot(t.pass, lock, stop)) return;
    const bool copies = plan_.batched != nullptr;  // single samples are only swapped
    if (copies) lock.unlock();
    const std::exception_ptr error = copy_items(t, at);
    if (copies) lock.lock();
    if (error) return fail(error, t.pass, lock, stop);
    if (filled_ == batch_size_) end_batch(lock);
  }
  if (t.error) return fail(t.error, t.pass, lock, stop);
  if (t.ends_pass) end_pass(t.pass, lock, stop);
}

void BatchAssembler::add_to_groups(Ticket& t, SlotRing::Lock& lock, const std::stop_token& stop) {
  for (size_t at = 0; at < t.count; ++at) {
    if (!t.items[at].there) continue;
    WorkClock(times_).add_samples(1);
    std::vector<Datapoint>* const complete = groups_->add(t.items[at].data);
    if (complete != nullptr && !end_batch_of(*complete, t.pass, lock, stop)) return;
  }
  if (t.error) return fail(t.error, t.pass, lock, stop);
  if (!t.ends_pass) return;
  for (std::vector<Datapoint>* rest = groups_->next_rest(); rest != nullptr; rest = groups_->next_rest()) {
    if (plan_.batched->keeps_remainder() && !end_batch_of(*rest, t.pass, lock, stop)) return;
  }
  end_pass(t.pass, lock, stop);
}

/// False if the stream is stopped.
bool BatchAssembler::end_batch_of(std::vector<Datapoint>& samples, const PassKey& pass, SlotRing::Lock& lock,
                                  const std::stop_token& stop) {
  if (ours() && !open_slot(pass, lock, stop)) return false;
  filled_ = std::ssize(samples);
  if (slot_ != nullptr) std::swap(slot_->kept, samples);
  end_batch(lock);
  return true;
}

bool BatchAssembler::ours() const { return number_ >= 0 && number_ % options_.shard_count == options_.shard; }

bool BatchAssembler::open_slot(const PassKey& pass, SlotRing::Lock& lock, const std::stop_token& stop) {
  while (slot_ == nullptr) {
    if (ring_.closed() || stop.stop_requested()) return false;
    slot_ = ring_.open(sequence_);
    if (slot_ == nullptr) ring_.wait(lock, stop);
  }
  slot_->place = {pass, index_};
  return true;
}

std::exception_ptr BatchAssembler::copy_items(Ticket& t, size_t& at) const {
  WorkClock clock(times_);
  try {
    for (; at < t.count && filled_ < batch_size_; ++at) {
      Ticket::Item& item = t.items[at];
      if (item.wanted && !item.there) continue;
      if (slot_ != nullptr && plan_.batched != nullptr) {
        store_sample(item.data, *plan_.batched, *slot_, filled_);
      } else if (slot_ != nullptr) {
        std::swap(slot_->batch, item.data);
        slot_->bytes = slot_->batch.bytes();
      }
      if (slot_ != nullptr) clock.add_samples(1);
      ++filled_;
    }
  } catch (...) {
    return std::current_exception();
  }
  return nullptr;
}

void BatchAssembler::end_batch(SlotRing::Lock& lock) {
  if (slot_ != nullptr) {
    BatchSlot& slot = *slot_;
    slot.samples = filled_;
    slot.next = {slot.place.pass.pass, index_ + options_.shard_count - options_.shard};
    if (plan_.batched != nullptr) {
      lock.unlock();
      {
        const WorkClock clock(times_);
        finish_batch(slot, plan_, options_.seed);
      }
      lock.lock();
    }
    ring_.publish(slot);
    slot_ = nullptr;
    ++sequence_;
  }
  ++number_;
  ++index_;
  filled_ = 0;
}

void BatchAssembler::end_pass(const PassKey& pass, SlotRing::Lock& lock, const std::stop_token& stop) {
  if (filled_ > 0 && plan_.batched != nullptr && plan_.batched->keeps_remainder()) end_batch(lock);
  filled_ = 0;  // an opened slot is kept for the first batch of the next pass
  if (options_.passes && pass.pass + 1 >= options_.position.pass + *options_.passes) {
    ring_.end(sequence_);
    finished_ = true;
  } else if (index_ == 0 && !options_.passes) {
    const DataError empty("the dataflow has no data: pass " + std::to_string(pass.pass) + " has no batch");
    fail(std::make_exception_ptr(empty), pass, lock, stop);
  }
}

void BatchAssembler::fail(const std::exception_ptr& error, const PassKey& pass, SlotRing::Lock& lock,
                          const std::stop_token& stop) {
  // The error replaces the batch of its sample, or this reader's next batch.
  if (!open_slot(pass, lock, stop)) return;
  slot_->error = error;
  ring_.publish(*slot_);
  slot_ = nullptr;
  finished_ = true;
}

}  // namespace tpack
