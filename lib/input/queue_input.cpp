#include "input/input_source.h"

namespace tpack {
namespace {

struct QueueParams {
  std::optional<int64_t> capacity = {};
};

class QueueReader final : public InputReader {
 public:
  QueueReader(const InputSetup& setup, size_t capacity)
      : flow_(*setup.flow),
        components_(setup.components),
        tensors_(setup.components.size()),
        stream_(setup.flow->stream({.seed = setup.seed,
                                    .slots = capacity,
                                    .shard = setup.replica,
                                    .shard_count = setup.replicas,
                                    .position = setup.position,
                                    .passes = setup.passes,
                                    .measure_every = kMeasureEvery})),
        position_(setup.position) {}

  bool next(const std::stop_token& stop) override {
    for (Tensor& tensor : tensors_) tensor = Tensor();  // before the slot may be filled again
    batch_.reset();
    batch_ = stream_->next(stop);
    if (!batch_) return false;
    for (size_t i = 0; i < components_.size(); ++i) tensors_[i] = batch_->tensor(components_[i]);
    position_ = batch_->next_position();
    return true;
  }
  std::span<const Tensor> tensors() const override { return tensors_; }
  DataPosition position() const override { return position_; }
  double waited_s() const override { return stream_->stats().wait_s; }
  std::optional<InputQueue> queue() const override {
    return InputQueue{stream_->stats(), stream_->workers(), flow_.parts(), stream_->part_times()->totals()};
  }

 private:
  /// Pieces of work, for one that is measured: costs nothing, and a prime number meets all rows of batches.
  static constexpr int64_t kMeasureEvery = 31;

  const DataFlow& flow_;
  std::vector<size_t> components_;
  std::vector<Tensor> tensors_;
  std::unique_ptr<Stream> stream_;
  std::optional<Batch> batch_;
  DataPosition position_;
};

/// Worker threads fill a ring of batches ahead of the training step. The default.
class QueueInput final : public InputSource {
 public:
  using Params = QueueParams;
  static Schema<Params> schema() {
    return Schema<Params>("Batches made ahead by worker threads.")
        .example("Queue: {capacity: 50}")
        .field("capacity", &Params::capacity, between(2, 10000),
               "largest number of batches in memory; default: the flow's `prefetch` plus the one in use");
  }
  explicit QueueInput(Params p) : p_(p) {}
  std::unique_ptr<InputReader> open(const InputSetup& setup) const override {
    return std::make_unique<QueueReader>(setup, static_cast<size_t>(p_.capacity.value_or(0)));
  }
  int64_t batches_in_memory(const FlowSettings& settings) const override {
    return p_.capacity.value_or(settings.prefetch + 1);
  }

 private:
  Params p_;
};

TPACK_REGISTER(InputSource, QueueInput, "Queue", "QueueInput");

}  // namespace
}  // namespace tpack
