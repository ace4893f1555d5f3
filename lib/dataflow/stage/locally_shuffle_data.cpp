#include <algorithm>
#include <optional>
#include <vector>

#include "core/registry.h"
#include "dataflow/datapoint.h"
#include "dataflow/repeated_points.h"
#include "dataflow/stage.h"

namespace tpack {
namespace {

/// A pass divided into blocks, each with its own permutation. The first block may be shorter than the others.
struct Blocks {
  int64_t first = 0;   // items of the first block
  int64_t length = 0;  // of the others
  uint64_t key = 0;

  struct Block {
    int64_t number = 0;
    int64_t begin = 0;
    int64_t end = 0;
  };
  Block of(int64_t place, int64_t places) const {
    if (place < first) return {0, 0, std::min(first, places)};
    const int64_t number = (place - first) / length;
    const int64_t begin = first + number * length;
    return {number + 1, begin, places - begin > length ? begin + length : places};
  }
  /// The item at `place` of the output.
  int64_t source(int64_t place, int64_t places) const {
    const Block block = of(place, places);
    const Permutation order(static_cast<uint64_t>(block.end - block.begin),
                            mix(key, static_cast<uint64_t>(block.number)));
    return block.begin + static_cast<int64_t>(order(static_cast<uint64_t>(place - block.begin)));
  }
};

/// Reads block after block of a sequential flow.
class BlockCursor final : public Cursor {
 public:
  BlockCursor(std::unique_ptr<Cursor> up, const Blocks& blocks) : up_(std::move(up)), blocks_(blocks) {}

  bool next(Datapoint& out) override {
    if (place_ == end_ && !filling_) {
      begin_ = end_;
      filling_ = true;
    }
    if (filling_) fill_block();
    if (place_ == end_) return false;
    const int64_t from = blocks_.source(place_++, end_) - begin_;
    std::swap(out, block_[static_cast<size_t>(from)]);
    return true;
  }

 private:
  /// A bad item ends it; the next call continues after that item.
  void fill_block() {
    const Blocks::Block block = blocks_.of(begin_, kEndless);
    block_.resize(static_cast<size_t>(std::max(blocks_.length, blocks_.first)));
    for (; end_ < block.end && up_->next(block_[static_cast<size_t>(end_ - begin_)]); ++end_) {
    }
    filling_ = false;
  }

  std::unique_ptr<Cursor> up_;
  Blocks blocks_;
  std::vector<Datapoint> block_;
  int64_t begin_ = 0;
  int64_t end_ = 0;
  int64_t place_ = 0;
  bool filling_ = false;
};

/// Two rounds of blocks of half the buffer size, the second one shifted by half a block: items mix across
/// block borders, no item moves further than the buffer size, and any place is computed without reading. A
/// buffer of 2 or 3, whose half would be a block of one item, has one round of whole buffers that starts at a
/// random place, so that the borders differ in each pass.
class LocallyShuffledFlow final : public RemappedFlow {
 public:
  LocallyShuffledFlow(FlowPtr up, int64_t buffer_size, const StageContext& context)
      : RemappedFlow(std::move(up)), buffer_(buffer_size), stage_(context.key) {}

  std::optional<int64_t> size() const override { return up().size(); }
  int64_t places() const override { return up().places(); }
  Place locate(const PassKey& pass, int64_t place) const override {
    const Rounds all = rounds(pass);
    if (all.second) place = all.second->source(place, places());
    place = all.first.source(place, places());
    return {pass, place};
  }
  std::unique_ptr<Cursor> open_sequential(const PassKey& pass) const override {
    const Rounds all = rounds(pass);
    auto cursor = std::make_unique<BlockCursor>(up().open(pass), all.first);
    if (!all.second) return cursor;
    return std::make_unique<BlockCursor>(std::move(cursor), *all.second);
  }

 private:
  struct Rounds {
    Blocks first;
    std::optional<Blocks> second;
  };
  Rounds rounds(const PassKey& pass) const {
    const uint64_t key = pass.key(stage_);
    const int64_t half = buffer_ / 2;
    if (half == 1) {
      const auto first = 1 + static_cast<int64_t>(mix(key, 2) % static_cast<uint64_t>(buffer_));
      return {{first, buffer_, mix(key, 1)}, std::nullopt};
    }
    return {{half, half, mix(key, 1)}, Blocks{half / 2, half, mix(key, 2)}};
  }

  int64_t buffer_;
  uint64_t stage_;
};

struct LocallyShuffleDataParams {
  int64_t buffer_size = 0;
  int64_t num_reuse = 1;
};

/// Source: tensorpack dataflow/common.py, LocallyShuffleData; unlike there, a pass has an end and contains
/// each item once.
class LocallyShuffleData final : public Stage {
 public:
  using Params = LocallyShuffleDataParams;
  static Schema<Params> schema() {
    return Schema<Params>("Shuffles items within a short distance, for data that is read in order.")
        .example("LocallyShuffleData: {buffer_size: 1000}")
        .field("buffer_size", &Params::buffer_size, between(2, 1 << 24),
               "no item moves further than this; a sequential flow keeps this many in memory")
        .required()
        .shorthand()
        .field("num_reuse", &Params::num_reuse, between(1, 1 << 10),
               "number of times that each item comes, among the items near it; random maps after it draw new "
               "numbers each time. With data that are read by place, the item is read again each time");
  }
  explicit LocallyShuffleData(Params p) : p_(p) {}

  bool reorders() const override { return true; }
  FlowPtr wrap(FlowPtr up, const StageContext& context) const override {
    if (context.keeps_order) return up;
    return std::make_shared<LocallyShuffledFlow>(repeated_points(std::move(up), p_.num_reuse, context),
                                                 p_.buffer_size * p_.num_reuse, context);
  }

 private:
  Params p_;
};

TPACK_REGISTER(Stage, LocallyShuffleData, "LocallyShuffleData");

}  // namespace
}  // namespace tpack
