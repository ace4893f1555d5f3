#include "core/error.h"
#include "core/registry.h"
#include "dataflow/datapoint.h"
#include "dataflow/stage.h"

namespace tpack {
namespace {

class RepeatedCursor final : public Cursor {
 public:
  RepeatedCursor(const Flow& up, const PassKey& pass, int64_t num) : up_(up), pass_(pass), left_(num) {
    pass_.repeat *= num == kEndless ? 1 : num;
    cursor_ = up_.open(pass_);
  }

  bool next(Datapoint& out) override {
    while (!cursor_->next(out)) {
      if (!gave_something_) throw DataError("RepeatedData: the flow before it is empty");
      if (--left_ == 0) {
        left_ = 1;  // the end stays the end
        return false;
      }
      ++pass_.repeat;
      cursor_ = up_.open(pass_);
      gave_something_ = false;
    }
    gave_something_ = true;
    return true;
  }

 private:
  const Flow& up_;
  PassKey pass_;
  int64_t left_;
  std::unique_ptr<Cursor> cursor_;
  bool gave_something_ = false;
};

class RepeatedFlow final : public RemappedFlow {
 public:
  RepeatedFlow(FlowPtr up, int64_t num) : RemappedFlow(std::move(up)), num_(num) {}

  std::optional<int64_t> size() const override {
    if (num_ == kEndless) return kEndless;
    const auto once = up().size();
    return once ? std::optional(times(*once)) : std::nullopt;
  }
  int64_t places() const override { return times(up().places()); }
  std::string repeats() const override {
    if (num_ == 1) return up().repeats();
    return "RepeatedData gives each sample " +
           (num_ == kEndless ? std::string("without end") : std::to_string(num_) + " times");
  }
  Place locate(const PassKey& pass, int64_t place) const override {
    const int64_t once = up().places();
    if (once == kEndless) return {pass, place};
    const int64_t repeats = num_ == kEndless ? 1 : num_;
    return {{pass.seed, pass.pass, pass.repeat * repeats + place / once}, place % once};
  }
  std::unique_ptr<Cursor> open_sequential(const PassKey& pass) const override {
    return std::make_unique<RepeatedCursor>(up(), pass, num_);
  }

 private:
  int64_t times(int64_t once) const {
    if (once == 0) return 0;
    return num_ == kEndless || once == kEndless || once > kEndless / num_ ? kEndless : once * num_;
  }

  int64_t num_;
};

struct RepeatedDataParams {
  int64_t num = -1;
};

/// Source: tensorpack dataflow/common.py, RepeatedData. Each repetition has its own shuffling and
/// augmentation.
class RepeatedData final : public Stage {
 public:
  using Params = RepeatedDataParams;
  static Schema<Params> schema() {
    return Schema<Params>("Repeats the whole flow within one pass.")
        .example("RepeatedData: {num: 2}")
        .field("num", &Params::num, at_least(-1), "number of times; -1: forever, so that the pass never ends")
        .shorthand();
  }
  explicit RepeatedData(Params p) : p_(p) {
    if (p_.num == 0)
      throw ConfigError("RepeatedData: 'num' is 0; must be at least 1, or -1 to repeat forever");
  }

  FlowPtr wrap(FlowPtr up, const StageContext& /*context*/) const override {
    return std::make_shared<RepeatedFlow>(std::move(up), p_.num < 0 ? kEndless : p_.num);
  }

 private:
  Params p_;
};

TPACK_REGISTER(Stage, RepeatedData, "RepeatedData");

}  // namespace
}  // namespace tpack
