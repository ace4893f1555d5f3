#include "core/clock.h"
#include "dataflow/engine/batch_assembler.h"
#include "dataflow/engine/stream_engine.h"
#include "dataflow/engine/ticket.h"

namespace tpack {
namespace {

/// Fills slots in order from flows that are sequential or drop samples. A worker pulls a ticket of items (one
/// worker at a time) and runs the maps on it (all workers in parallel); the worker that finds the oldest
/// ticket done writes it into the slots (one at a time).
class OrderFiller final : public Filler {
 public:
  OrderFiller(const StreamPlan& plan, const StreamOptions& options, SlotRing& ring, PartTimes* times)
      : ring_(ring),
        times_(times),
        tickets_(2 * options.workers + 2),
        source_(plan, options),
        assembler_(plan, options, ring) {
    for (Ticket& t : tickets_) t.items.resize(kMaxItems);
    if (!source_.ended()) return;
    const SlotRing::Lock lock = ring_.lock();
    ring_.end(0);
  }

  void run(const std::stop_token& stop) override {
    SlotRing::Lock lock = ring_.lock();
    while (!stop.stop_requested() && !ring_.closed() && !assembler_finished_) {
      if (!assembling_ && oldest_ < newest_ && ticket(oldest_).done) {
        assemble(lock, stop);
      } else if (!pulling_ && newest_ - oldest_ < tickets_.size() && !source_.ended()) {
        pull_and_map(lock);
      } else if (!pulling_ && source_.ended() &&
                 oldest_ == newest_) {  // the worker that pulls writes what `ended` reads
        return;
      } else {
        ring_.wait(lock, stop);
      }
    }
  }

 private:
  Ticket& ticket(size_t number) { return tickets_[number % tickets_.size()]; }

  void assemble(SlotRing::Lock& lock, const std::stop_token& stop) {
    assembling_ = true;
    assembler_.add(ticket(oldest_), lock, stop);
    assembling_ = false;
    assembler_finished_ = assembler_.finished();
    ticket(oldest_).done = false;
    ++oldest_;
    ring_.wake_workers();
  }

  void pull_and_map(SlotRing::Lock& lock) {
    Ticket& t = ticket(newest_);
    const int64_t most = chunk_size_.next(kMaxItems);
    pulling_ = true;
    t.times = times_ != nullptr && times_->next() ? times_ : nullptr;
    lock.unlock();
    const double pull_s = pull(t, most);
    lock.lock();
    pulling_ = false;
    ++newest_;
    ring_.wake_workers();
    lock.unlock();
    const double map_s = map(t);
    lock.lock();
    chunk_size_.measured(static_cast<int64_t>(t.count), pull_s + map_s);
    t.done = true;
    ring_.wake_workers();
  }

  /// The next two return their seconds.
  double pull(Ticket& t, int64_t most) {
    const Stopwatch watch;
    const WorkClock clock(t.times);
    source_.pull(t, most);
    return watch.seconds();
  }
  double map(Ticket& t) const {
    const Stopwatch watch;
    const WorkClock clock(t.times);
    source_.map(t);
    return watch.seconds();
  }

  static constexpr int64_t kMaxItems = 64;  // of a ticket

  SlotRing& ring_;
  PartTimes* const times_;
  std::vector<Ticket> tickets_;
  TicketSource source_;       // used by the worker that pulls
  BatchAssembler assembler_;  // used by the worker that assembles
  // Guarded by the ring's lock.
  size_t oldest_ = 0;  // ticket to be assembled next
  size_t newest_ = 0;  // ticket to be pulled next
  bool pulling_ = false;
  bool assembling_ = false;
  bool assembler_finished_ = false;
  ChunkSize chunk_size_;
};

}  // namespace

std::unique_ptr<Filler> make_order_filler(const StreamPlan& plan, const StreamOptions& options,
                                          SlotRing& ring, PartTimes* times) {
  return std::make_unique<OrderFiller>(plan, options, ring, times);
}

}  // namespace tpack
