#include "core/error.h"
#include "core/registry.h"
#include "dataflow/datapoint.h"
#include "dataflow/stage.h"

namespace tpack {
namespace {

/// The first `size` items of passes that follow one another without end.
class FixedSizeCursor final : public Cursor {
 public:
  FixedSizeCursor(const Flow& up, const PassKey& pass, int64_t size) : up_(up), pass_(pass), left_(size) {
    cursor_ = up_.open(pass_);
  }

  bool next(Datapoint& out) override {
    if (left_ == 0) return false;
    while (!cursor_->next(out)) {
      if (!gave_something_) throw DataError("FixedSizeData: the flow before it is empty");
      ++pass_.repeat;
      cursor_ = up_.open(pass_);
      gave_something_ = false;
    }
    gave_something_ = true;
    --left_;
    return true;
  }

 private:
  const Flow& up_;
  PassKey pass_;
  int64_t left_;
  std::unique_ptr<Cursor> cursor_;
  bool gave_something_ = false;
};

enum class KeepState : uint8_t { kNo, kYes };

/// If the size of the flow before it is unknown, each pass starts at its first item.
class FixedSizeFlow final : public RemappedFlow {
 public:
  FixedSizeFlow(FlowPtr up, int64_t size, KeepState keep)
      : RemappedFlow(std::move(up)), size_(size), keep_(keep) {}

  Access access() const override {
    return up().access() == Access::kIndexed ? Access::kIndexed : Access::kSequential;
  }
  std::optional<int64_t> size() const override { return size_; }
  int64_t places() const override { return size_; }
  std::string repeats() const override {
    const auto once = up().size();
    if (once && *once >= size_) return up().repeats();
    if (!once) return up().repeats();
    return "FixedSizeData makes " + std::to_string(size_) + " samples of " + std::to_string(*once);
  }
  Place locate(const PassKey& pass, int64_t place) const override {
    const int64_t once = up().places();
    if (keep_ == KeepState::kNo || once == kEndless) {
      const int64_t times = once == kEndless ? 0 : place / once;
      return {{pass.seed, pass.pass, pass.repeat + times}, once == kEndless ? place : place % once};
    }
    const int64_t global = pass.pass * size_ + place;
    return {{pass.seed, global / once, pass.repeat}, global % once};
  }
  std::unique_ptr<Cursor> open_sequential(const PassKey& pass) const override {
    return std::make_unique<FixedSizeCursor>(up(), pass, size_);
  }
  void prepare() const override {
    up().prepare();
    if (up().size() == 0) throw DataError("FixedSizeData: the flow before it is empty");
  }

 private:
  int64_t size_;
  KeepState keep_;
};

struct FixedSizeDataParams {
  int64_t size = 0;
  bool keep_state = true;
};

/// Source: tensorpack dataflow/common.py, FixedSizeData.
class FixedSizeData final : public Stage {
 public:
  using Params = FixedSizeDataParams;
  static Schema<Params> schema() {
    return Schema<Params>("Makes a pass of exactly `size` items.")
        .example("FixedSizeData: {size: 1000}")
        .field("size", &Params::size, between(1, 1e12), "items per pass")
        .required()
        .shorthand()
        .field("keep_state", &Params::keep_state,
               "true: the next pass continues where the last one ended (a RepeatedData after it repeats that "
               "part), "
               "which needs data that can be read by index; false: it starts from the beginning");
  }
  explicit FixedSizeData(Params p) : p_(p) {}

  FlowPtr wrap(FlowPtr up, const StageContext& context) const override {
    if (p_.keep_state && up->access() != Access::kIndexed) {
      throw ConfigError(
          context.position,
          "FixedSizeData: keep_state needs data that can be read by index; this flow drops samples "
          "or is sequential; set keep_state: false");
    }
    return std::make_shared<FixedSizeFlow>(std::move(up), p_.size,
                                           p_.keep_state ? KeepState::kYes : KeepState::kNo);
  }

 private:
  Params p_;
};

TPACK_REGISTER(Stage, FixedSizeData, "FixedSizeData");

}  // namespace
}  // namespace tpack
