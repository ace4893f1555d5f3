#include <atomic>

#include "core/clock.h"
#include "core/stop.h"
#include "dataflow/datapoint.h"
#include "dataflow/flow.h"
#include "input/input_source.h"

namespace tpack {
namespace {

/// Reads pass after pass in the calling thread.
class FeedReader final : public InputReader {
 public:
  explicit FeedReader(const InputSetup& setup)
      : setup_(setup), tensors_(setup.components.size()), next_(setup.position), to_skip_(setup.replica) {
    setup_.flow->prepare();
    open_pass(setup.position);
  }

  bool next(const std::stop_token& stop) override {
    const Stopwatch watch;
    if (!advance(stop)) return false;
    for (size_t i = 0; i < tensors_.size(); ++i) tensors_[i] = point_.to_tensor(setup_.components[i]);
    next_ = in_its_pass({pass_, index_ - 1 - setup_.replica + setup_.replicas});
    to_skip_ = setup_.replicas - 1;
    waited_s_ = waited_s_ + watch.seconds();  // only this thread writes it
    return true;
  }
  std::span<const Tensor> tensors() const override { return tensors_; }
  DataPosition position() const override { return next_; }
  double waited_s() const override { return waited_s_; }

 private:
  void open_pass(DataPosition at) {
    pass_ = at.pass;
    index_ = 0;
    to_skip_ += at.index;  // beyond the end of a pass that is shorter than expected
    cursor_ = setup_.flow->open({.seed = setup_.seed, .pass = at.pass});
  }

  /// The position with the pass that it lies in, as far as the lengths of passes are known.
  DataPosition in_its_pass(DataPosition at) const {
    const int64_t batches = setup_.flow->size().value_or(kEndless);
    if (batches <= 0) return at;
    return {at.pass + at.index / batches, at.index % batches};
  }

  /// Skips the batches of the other replicas, across ends of passes, and reads the next one.
  bool advance(const std::stop_token& stop) {
    int empty_passes = 0;
    while (true) {
      if (stop.stop_requested()) throw Stopped{};
      const int64_t skipped = cursor_->skip(to_skip_);
      to_skip_ -= skipped;
      index_ += skipped;
      if (to_skip_ == 0 && cursor_->next(point_)) {
        ++index_;
        return true;
      }
      const bool last = setup_.passes && pass_ + 1 >= setup_.position.pass + *setup_.passes;
      // A flow without batches would be opened forever.
      if (last || (index_ == 0 && ++empty_passes > 1)) return false;
      open_pass({pass_ + 1, 0});
    }
  }

  InputSetup setup_;
  std::vector<Tensor> tensors_;
  DataPosition next_;    // given by position()
  int64_t pass_ = 0;     // of the open cursor
  int64_t index_ = 0;    // of the next item of the cursor
  int64_t to_skip_ = 0;  // items of other replicas before mine
  std::unique_ptr<Cursor> cursor_;
  Datapoint point_;
  std::atomic<double> waited_s_ = 0;
};

/// Reads each batch on demand, without threads: for small inputs and for inference.
class FeedInput final : public InputSource {
 public:
  using Params = NoParams;
  static Schema<Params> schema() { return Schema<Params>("Batches made one at a time, on demand."); }
  explicit FeedInput(Params /*p*/) {}
  std::unique_ptr<InputReader> open(const InputSetup& setup) const override {
    return std::make_unique<FeedReader>(setup);
  }
};

TPACK_REGISTER(InputSource, FeedInput, "Feed", "FeedInput");

}  // namespace
}  // namespace tpack
