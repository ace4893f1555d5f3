#include "dataflow/engine/slot_ring.h"

#include <algorithm>

#include "core/clock.h"
#include "core/error.h"
#include "core/stop.h"

namespace tpack {

SlotRing::SlotRing(size_t slots) : slots_(slots), published_(slots) {
  TPACK_ASSERT(slots >= 1, "a ring without slots");
  free_.reserve(slots);
  for (BatchSlot& slot : slots_) free_.push_back(&slot);
}

BatchSlot* SlotRing::open(int64_t sequence) {
  if (ready_bytes_ > kMostReadyBytes && ready_count_ >= kSomeReady) gate_open_ = false;
  if (closed_ || !gate_open_ || free_.empty()) return nullptr;
  BatchSlot* slot = free_.back();
  free_.pop_back();
  gate_open_ = !free_.empty();
  slot->sequence = sequence;
  slot->samples = slot->bytes = slot->claimed = slot->done = 0;
  slot->error = nullptr;
  return slot;
}

void SlotRing::publish(BatchSlot& slot) {
  published_[static_cast<size_t>(slot.sequence) % published_.size()] = &slot;
  ++ready_count_;
  ready_bytes_ += slot.bytes;
  if (reader_waits_ && slot.sequence == head_) ready_.notify_one();
}

void SlotRing::end(int64_t sequence) {
  end_ = sequence;
  ready_.notify_one();
}

void SlotRing::wait(Lock& lock, const std::stop_token& stop) {
  const uint64_t before = changes_;
  ++sleeping_;
  work_.wait(lock, stop, [&] { return closed_ || changes_ != before; });
  --sleeping_;
}

void SlotRing::wake_workers() {
  ++changes_;
  if (sleeping_ > 0) work_.notify_all();
}

void SlotRing::fail(std::exception_ptr error) {
  const Lock lock(mutex_);
  if (!error_) error_ = std::move(error);
  closed_ = true;
  ready_.notify_one();
  wake_workers();
}

BatchSlot* SlotRing::next(const std::stop_token& stop) {
  Lock lock(mutex_);
  count_ready();
  while (true) {
    if (error_) std::rethrow_exception(error_);
    if (stop.stop_requested()) throw Stopped{};  // even if data are always ready
    if (BatchSlot* slot = take_ready()) {
      if (!slot->error) return slot;
      error_ = slot->error;
      closed_ = true;
      wake_workers();
      continue;
    }
    if (end_ && head_ >= *end_) return nullptr;
    wait_ready(lock, stop);
  }
}

BatchSlot* SlotRing::take_ready() {
  BatchSlot*& entry = published_[static_cast<size_t>(head_) % published_.size()];
  if (entry == nullptr || entry->sequence != head_) return nullptr;
  BatchSlot* slot = entry;
  entry = nullptr;
  --ready_count_;
  ready_bytes_ -= slot->bytes;
  ++head_;
  return slot;
}

void SlotRing::count_ready() {
  constexpr double kDecay = 0.5;
  const auto ready = static_cast<double>(ready_count_);
  fill_ = head_ == 0 ? ready : kDecay * fill_ + (1 - kDecay) * ready;
  found_ += static_cast<int64_t>(ready_count_);
}

void SlotRing::wait_ready(Lock& lock, const std::stop_token& stop) {
  // A waiting reader is not disturbed.
  if (!free_.empty() && !gate_open_) {
    gate_open_ = true;
    wake_workers();
  }
  const Stopwatch waited;
  reader_waits_ = true;
  ready_.wait(lock, stop, [&] {
    const BatchSlot* slot = published_[static_cast<size_t>(head_) % published_.size()];
    return closed_ || (slot != nullptr && slot->sequence == head_) || (end_ && head_ >= *end_);
  });
  reader_waits_ = false;
  wait_s_ += waited.seconds();
}

void SlotRing::release(BatchSlot& slot) {
  const Lock lock(mutex_);
  free_.push_back(&slot);
  if (!gate_open_ && (2 * free_.size() >= slots_.size() || reader_waits_)) {
    gate_open_ = true;
    wake_workers();
  }
}

StreamStats SlotRing::stats() const {
  const Lock lock(mutex_);
  return {head_, wait_s_, ready_count_, slots_.size(), found_, fill_};
}

}  // namespace tpack
