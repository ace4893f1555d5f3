#include <algorithm>

#include "core/clock.h"
#include "core/error.h"
#include "dataflow/engine/stream_engine.h"

namespace tpack {
namespace {

/// Rows of one batch that one worker makes.
struct Chunk {
  BatchSlot* slot = nullptr;
  int64_t begin = 0;
  int64_t end = 0;
};

/// Fills batches whose rows can be made in any order. The place of each batch is computed, so resuming and
/// sharding cost nothing.
class PlaceFiller final : public Filler {
 public:
  PlaceFiller(const StreamPlan& plan, const Flow& flow, const StreamOptions& options, SlotRing& ring,
              PartTimes* times)
      : plan_(plan), options_(options), ring_(ring), times_(times), per_pass_(flow.places()) {
    if (per_pass_ == 0) throw DataError("the dataflow has no data: a pass has no batch");
    first_ = number_of(options.position) + options.shard;
    if (!options.passes || per_pass_ == kEndless) return;
    const int64_t last = (options.position.pass + *options.passes) * per_pass_;
    batches_ = std::max<int64_t>(0, (last - first_ + options.shard_count - 1) / options.shard_count);
    const SlotRing::Lock lock = ring_.lock();
    ring_.end(batches_);
  }

  void run(const std::stop_token& stop) override {
    Datapoint sample;
    Chunk chunk;
    while (claim(chunk, stop)) {
      PartTimes* const times = times_ != nullptr && times_->next() ? times_ : nullptr;
      const Stopwatch time;
      int64_t row = chunk.begin;
      std::exception_ptr error;
      try {
        WorkClock clock(times);
        for (; row < chunk.end; ++row) make_row(*chunk.slot, row, sample);
        clock.add_samples(chunk.end - chunk.begin);
      } catch (...) {
        error = std::current_exception();
      }
      complete(chunk, {row, error}, time.seconds(), times);
    }
  }

 private:
  /// The number of a batch in the endless sequence; position_of is the inverse.
  int64_t number_of(const DataPosition& p) const {
    return per_pass_ == kEndless ? p.index : p.pass * per_pass_ + p.index;
  }
  DataPosition position_of(int64_t number) const {
    if (per_pass_ == kEndless) return {options_.position.pass, number};
    return {number / per_pass_, number % per_pass_};
  }

  bool claim(Chunk& chunk, const std::stop_token& stop) {
    SlotRing::Lock lock = ring_.lock();
    while (!stop.stop_requested() && !ring_.closed()) {
      if (current_ != nullptr && current_->claimed < current_->samples) {
        chunk = {current_, current_->claimed,
                 current_->claimed + chunk_size_.next(current_->samples - current_->claimed)};
        current_->claimed = chunk.end;
        return true;
      }
      if (opened_ == batches_) return false;
      current_ = ring_.open(opened_);
      if (current_ == nullptr) {
        ring_.wait(lock, stop);
      } else {
        start(*current_);
      }
    }
    return false;
  }

  void start(BatchSlot& slot) {
    const int64_t number = first_ + opened_ * options_.shard_count;
    const DataPosition at = position_of(number);
    slot.place = plan_.locate({options_.seed, at.pass, 0}, at.index);
    slot.samples = plan_.batched->samples_at(slot.place.index);
    slot.next = position_of(number - options_.shard + options_.shard_count);
    ++opened_;
  }

  void make_row(BatchSlot& slot, int64_t row, Datapoint& sample) const {
    for (size_t i = 0; i < slot.rows.size(); ++i) sample.offer(i, slot.rows[i].row(row));
    plan_.samples->get(slot.place.pass, slot.place.index * plan_.batch_size() + row, sample);
    store_sample(sample, *plan_.batched, slot, row);
  }

  struct Failure {
    int64_t row = 0;           // that failed
    std::exception_ptr error;  // null: none
  };
  /// The first failed row of the batch counts.
  void complete(const Chunk& chunk, const Failure& failure, double seconds, PartTimes* times) {
    BatchSlot& slot = *chunk.slot;
    SlotRing::Lock lock = ring_.lock();
    if (failure.error && (!slot.error || failure.row < slot.error_row)) {
      slot.error = failure.error;
      slot.error_row = failure.row;
    }
    chunk_size_.measured(chunk.end - chunk.begin, seconds);
    slot.done += chunk.end - chunk.begin;
    if (slot.done < slot.samples) return;
    lock.unlock();
    {
      const WorkClock clock(times);
      finish_batch(slot, plan_, options_.seed);
    }
    lock.lock();
    if (current_ == &slot) current_ = nullptr;
    ring_.publish(slot);
  }

  const StreamPlan& plan_;
  const StreamOptions options_;
  SlotRing& ring_;
  PartTimes* const times_;
  const int64_t per_pass_;  // batches
  int64_t first_ = 0;       // number of this reader's first batch
  int64_t batches_ = -1;    // of this reader; -1: without end
  // Guarded by the ring's lock.
  int64_t opened_ = 0;
  BatchSlot* current_ = nullptr;  // has rows that no worker has taken yet
  ChunkSize chunk_size_;
};

}  // namespace

std::unique_ptr<Filler> make_place_filler(const StreamPlan& plan, const Flow& flow,
                                          const StreamOptions& options, SlotRing& ring, PartTimes* times) {
  return std::make_unique<PlaceFiller>(plan, flow, options, ring, times);
}

}  // namespace tpack
