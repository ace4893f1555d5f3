#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>

#include "dataflow/flow.h"
#include "dataflow/part_times.h"
#include "tensor/tensor.h"

namespace tpack {

class SlotRing;
struct BatchSlot;
class StreamEngine;

/// A place in the endless sequence of passes: item `index` of pass `pass`. An index beyond the end of its
/// pass continues in the next one.
struct DataPosition {
  int64_t pass = 0;
  int64_t index = 0;

  bool operator==(const DataPosition&) const = default;
};

struct StreamOptions {
  uint64_t seed = 0;
  size_t workers = 0;  // threads; 0: the flow's settings
  size_t slots = 0;    // batches in memory, including those held by the reader; 0: the flow's settings
  /// This reader of shard_count takes the batches p + shard, p + shard + shard_count, ... where p is
  /// `position`: each batch goes to exactly one reader.
  int64_t shard = 0;
  int64_t shard_count = 1;
  DataPosition position = {};
  std::optional<int64_t> passes = {};  // passes to read, including the pass of `position`; nothing: endless
  /// Measures the time of parts in one of so many pieces of work (see PartTimes); 0: in none.
  int64_t measure_every = 0;
};

/// Statistics of a stream so far.
struct StreamStats {
  int64_t batches = 0;  // batches taken by the reader
  double wait_s = 0;    // time that the reader waited for data
  size_t ready = 0;     // batches that wait for the reader
  size_t slots = 0;     // batches in memory at most
  int64_t found = 0;    // sum of the batches that waited each time that the reader came for one
  double fill = 0;      // their moving average, with a decay of 0.5
};

/// A finished batch in its slot of the ring. The tensors are valid until it is destroyed or `release` is
/// called; then the slot is filled again. Threads: one at a time; may be released by any thread.
class Batch {
 public:
  Batch(Batch&& other) noexcept;
  Batch& operator=(Batch&& other) noexcept;
  Batch(const Batch&) = delete;
  Batch& operator=(const Batch&) = delete;
  ~Batch();

  /// Components in the order of the flow's spec.
  size_t size() const;
  /// Component `i`: [samples, ...] for batches. Errors: InternalError for an image of a flow without
  /// BatchData.
  const Tensor& tensor(size_t i) const;
  /// The same as a datapoint, for items that are single samples with images.
  Datapoint& datapoint() const;
  /// Number of samples; 1 if the flow has no BatchData.
  int64_t samples() const;
  /// Where to continue after this batch: after it, and after the batches that the other shards take in the
  /// same round.
  DataPosition next_position() const;
  void release();

 private:
  friend class Stream;
  Batch(std::shared_ptr<SlotRing> ring, BatchSlot* slot);

  std::shared_ptr<SlotRing> ring_;
  BatchSlot* slot_;
};

/// Reads the passes of a flow one after the other as one stream of batches, made ahead by worker threads.
///
/// The data and their order depend only on the flow, the seed and the position, never on the number of
/// workers or slots. Workers write samples straight into their row of a pre-allocated slot. The first bad
/// sample (in stream order) stops the stream: `next` returns the batches before it, then throws its error.
/// Threads: one reader at a time. The destructor stops the workers and joins them; held batches stay valid.
class Stream {
 public:
  /// The flow must be prepared, workers and slots at least 1. Use DataFlow::stream.
  Stream(FlowPtr flow, const StreamOptions& options);
  ~Stream();
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  /// Waits for the next batch; nothing at the end. Errors: SampleError; Stopped if `stop` was requested.
  std::optional<Batch> next(const std::stop_token& stop = {});
  /// Where to continue after the batches returned by `next` so far.
  DataPosition position() const { return position_; }
  StreamStats stats() const;
  size_t workers() const { return workers_; }
  /// Null without StreamOptions::measure_every.
  PartTimes* part_times() const { return part_times_.get(); }

 private:
  std::shared_ptr<SlotRing> ring_;
  DataPosition position_;
  size_t workers_;
  std::unique_ptr<PartTimes> part_times_;
  std::unique_ptr<StreamEngine> engine_;
};

}  // namespace tpack
