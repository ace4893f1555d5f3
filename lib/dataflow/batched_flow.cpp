#include "dataflow/batched_flow.h"

#include <algorithm>

#include "core/error.h"
#include "dataflow/datapoint.h"

namespace tpack {
namespace {

void check_shapes(const Spec& spec, const StageContext& context) {
  for (const ComponentSpec& component : spec) {
    if (component.tensor.shape.known()) continue;
    std::string advice = "put a map that makes the shapes equal before it";
    if (component.is_image)
      advice =
          "put AugmentImageComponent: [{Resize: 224}] before it, or a crop; images of that size stay "
          "unchanged";
    throw ConfigError(context.position, context.name + ": component '" + component.name + "' is " +
                                            component.tensor.str() +
                                            "; samples of one batch need equal shapes; " + advice);
  }
}

std::vector<Tensor> make_rows(const Spec& samples, int64_t count, Datapoint& out) {
  out.resize(samples.size());
  std::vector<Tensor> rows;
  for (size_t i = 0; i < samples.size(); ++i) {
    rows.push_back(out.renew(i, {samples[i].tensor.dtype, samples[i].tensor.shape.prepend(count)}));
  }
  return rows;
}

class BatchCursor final : public Cursor {
 public:
  BatchCursor(const BatchedFlow& flow, const PassKey& pass)
      : flow_(flow), up_(flow.up().open(pass)), id_{pass.pass, 0, pass.repeat} {}

  bool next(Datapoint& out) override {
    const std::vector<Tensor> rows = make_rows(flow_.up().spec(), flow_.batch_size(), out);
    Datapoint& sample = out.child(0);
    int64_t count = 0;
    while (count < flow_.batch_size() && up_->next(sample)) store_row(sample, rows, count++);
    if (count == 0 || (count < flow_.batch_size() && !flow_.keeps_remainder())) return false;
    for (size_t i = 0; count < flow_.batch_size() && i < rows.size(); ++i) {
      out.set_tensor(i, rows[i].rows(0, count));
    }
    out.set_id(id_);
    ++id_.index;
    return true;
  }
  int64_t skip(int64_t count) override {
    const int64_t samples = up_->skip(count * flow_.batch_size());
    const bool remainder = flow_.keeps_remainder() && samples % flow_.batch_size() != 0;
    const int64_t skipped = samples / flow_.batch_size() + (remainder ? 1 : 0);
    id_.index += skipped;
    return skipped;
  }

 private:
  const BatchedFlow& flow_;
  std::unique_ptr<Cursor> up_;
  SampleId id_;
};

}  // namespace

BatchedFlow::BatchedFlow(FlowPtr up, int64_t batch_size, Remainder remainder, StageContext context)
    : WrappedFlow(std::move(up)),
      batch_size_(batch_size),
      remainder_(remainder),
      context_(std::move(context)) {
  check_shapes(this->up().spec(), context_);
  const auto samples = this->up().size();
  // None if files are not listed yet.
  const bool even = samples && *samples > 0 && (*samples == kEndless || *samples % batch_size_ == 0);
  spec_ = this->up().spec().batched(even || remainder_ == Remainder::kDrop ? batch_size_ : Shape::kUnknown);
}

int64_t BatchedFlow::batches_of(int64_t samples) const {
  if (samples == kEndless) return kEndless;
  return remainder_ == Remainder::kKeep ? (samples + batch_size_ - 1) / batch_size_ : samples / batch_size_;
}

int64_t BatchedFlow::samples_at(int64_t place) const {
  return up().places() == kEndless ? batch_size_ : std::min(batch_size_, up().places() - place * batch_size_);
}

Access BatchedFlow::access() const {
  return up().access() == Access::kIndexed ? Access::kIndexed : Access::kSequential;
}

Seek BatchedFlow::seek() const { return up().seek(); }

std::optional<int64_t> BatchedFlow::size() const {
  const auto samples = up().size();
  return samples ? std::optional(batches_of(*samples)) : std::nullopt;
}

int64_t BatchedFlow::places() const { return batches_of(up().places()); }

void BatchedFlow::prepare() const {
  up().prepare();
  const auto samples = up().size();
  if (!samples || batches_of(*samples) > 0) return;
  std::string text = context_.name + ": a pass has " + std::to_string(*samples) + " samples, batch_size is " +
                     std::to_string(batch_size_);
  if (*samples > 0) text += "; use a smaller batch_size or set remainder: true";
  throw ConfigError(context_.position, text);
}

bool BatchedFlow::get(const PassKey& pass, int64_t place, Datapoint& out) const {
  const int64_t count = samples_at(place);
  const std::vector<Tensor> rows = make_rows(up().spec(), count, out);
  Datapoint& sample = out.child(0);
  for (int64_t row = 0; row < count; ++row) {
    up().get(pass, place * batch_size_ + row, sample);
    store_row(sample, rows, row);
  }
  out.set_id({pass.pass, place, pass.repeat});
  return true;
}

std::unique_ptr<Cursor> BatchedFlow::open(const PassKey& pass) const {
  if (access() == Access::kIndexed) return cursor_by_place(*this, pass);
  return std::make_unique<BatchCursor>(*this, pass);
}

const BatchedFlow* batched_of(const Flow& flow) {
  const Flow* at = &flow;
  while (const auto* wrapped = dynamic_cast<const WrappedFlow*>(at)) {
    if (const auto* batched = dynamic_cast<const BatchedFlow*>(at)) return batched;
    at = &wrapped->up();
  }
  return nullptr;
}

}  // namespace tpack
