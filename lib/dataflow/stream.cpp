#include "dataflow/stream.h"

#include "core/error.h"
#include "dataflow/engine/slot_ring.h"
#include "dataflow/engine/stream_engine.h"

namespace tpack {

Batch::Batch(std::shared_ptr<SlotRing> ring, BatchSlot* slot) : ring_(std::move(ring)), slot_(slot) {}

Batch::Batch(Batch&& other) noexcept
    : ring_(std::move(other.ring_)), slot_(std::exchange(other.slot_, nullptr)) {}

Batch& Batch::operator=(Batch&& other) noexcept {
  if (this != &other) {
    release();
    ring_ = std::move(other.ring_);
    slot_ = std::exchange(other.slot_, nullptr);
  }
  return *this;
}

Batch::~Batch() { release(); }

void Batch::release() {
  if (slot_ == nullptr) return;
  ring_->release(*slot_);
  slot_ = nullptr;
  ring_.reset();
}

size_t Batch::size() const { return slot_->batch.size(); }
const Tensor& Batch::tensor(size_t i) const { return slot_->batch.tensor(i); }
Datapoint& Batch::datapoint() const { return slot_->batch; }
int64_t Batch::samples() const { return slot_->samples; }
DataPosition Batch::next_position() const { return slot_->next; }

Stream::Stream(FlowPtr flow, const StreamOptions& options)
    : ring_(std::make_shared<SlotRing>(options.slots)),
      position_(options.position),
      workers_(options.workers),
      part_times_(options.measure_every > 0 ? std::make_unique<PartTimes>(options.measure_every) : nullptr) {
  TPACK_ASSERT(options.workers >= 1, "a stream without workers");
  TPACK_ASSERT(options.shard_count >= 1 && options.shard >= 0 && options.shard < options.shard_count,
               "shard of a stream");
  engine_ = std::make_unique<StreamEngine>(std::move(flow), options, ring_, part_times_.get());
}

Stream::~Stream() = default;

std::optional<Batch> Stream::next(const std::stop_token& stop) {
  BatchSlot* slot = ring_->next(stop);
  if (slot == nullptr) return std::nullopt;
  position_ = slot->next;
  return Batch(ring_, slot);
}

StreamStats Stream::stats() const { return ring_->stats(); }

}  // namespace tpack
