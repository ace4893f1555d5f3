#include "dataflow/repeated_points.h"

#include <algorithm>
#include <cstring>

#include "dataflow/datapoint.h"
#include "dataflow/sample_error.h"

namespace tpack {
namespace {

void count_copy(Datapoint& point, int64_t num, int64_t copy) {
  SampleId id = point.id();
  id.repeat = id.repeat * num + copy;
  point.set_id(id);
}

class RepeatedPointCursor final : public Cursor {
 public:
  RepeatedPointCursor(const Flow& up, const PassKey& pass, int64_t num, const StageContext& context)
      : flow_(up), up_(up.open(pass)), num_(num), context_(context), copy_(num) {}

  bool next(Datapoint& out) override {
    if (copy_ == num_) {
      if (!up_->next(point_)) return false;
      copy_ = 0;
    }
    copy_to(out);
    count_copy(out, num_, copy_++);
    return true;
  }
  int64_t skip(int64_t count) override {
    int64_t skipped = std::min(count, num_ - copy_);
    copy_ += skipped;
    const int64_t points = (count - skipped) / num_;
    const int64_t whole = up_->skip(points);
    skipped += whole * num_;
    return whole < points ? skipped : skipped + Cursor::skip(count - skipped);
  }

 private:
  void copy_to(Datapoint& out) {
    try {
      copy_datapoint(point_, out);
    } catch (...) {
      copy_ = num_;  // the next call goes on after the bad item
      rethrow_with_sample(context_.place_of(point_.id(), flow_.file_of(point_.id())));
    }
  }

  const Flow& flow_;
  std::unique_ptr<Cursor> up_;
  int64_t num_;
  const StageContext& context_;
  int64_t copy_;  // the next copy of `point_`
  Datapoint point_;
};

class RepeatedPointFlow final : public WrappedFlow {
 public:
  RepeatedPointFlow(FlowPtr up, int64_t num, StageContext context)
      : WrappedFlow(std::move(up)), num_(num), context_(std::move(context)) {}

  std::optional<int64_t> size() const override {
    const auto once = up().size();
    return once ? std::optional(times(*once)) : std::nullopt;
  }
  int64_t places() const override { return times(up().places()); }
  std::string repeats() const override {
    return "each sample comes " + std::to_string(num_) + " times (RepeatedDataPoint, or num_reuse)";
  }
  bool get(const PassKey& pass, int64_t place, Datapoint& out) const override {
    if (!up().get(pass, place / num_, out)) return false;
    count_copy(out, num_, place % num_);
    return true;
  }
  std::unique_ptr<Cursor> open(const PassKey& pass) const override {
    if (access() != Access::kSequential) return cursor_by_place(*this, pass);
    return std::make_unique<RepeatedPointCursor>(up(), pass, num_, context_);
  }

 private:
  int64_t times(int64_t once) const { return once > kEndless / num_ ? kEndless : once * num_; }

  int64_t num_;
  StageContext context_;
};

}  // namespace

FlowPtr repeated_points(FlowPtr up, int64_t num, const StageContext& context) {
  return num == 1 ? std::move(up) : std::make_shared<RepeatedPointFlow>(std::move(up), num, context);
}

void copy_datapoint(Datapoint& from, Datapoint& to) {
  to.resize(from.size());
  to.set_id(from.id());
  for (size_t i = 0; i < from.size(); ++i) {
    const Tensor& tensor = from.to_tensor(i);
    std::memcpy(to.renew(i, tensor.spec()).raw(), tensor.raw(), tensor.bytes());
  }
}

}  // namespace tpack
