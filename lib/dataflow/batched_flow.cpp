#include "dataflow/batched_flow.h"

#include <algorithm>

#include "core/error.h"
#include "dataflow/datapoint.h"
#include "dataflow/part_times.h"

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

/// Batches of rows.
class RowCursor final : public Cursor {
 public:
  RowCursor(const BatchedFlow& flow, const PassKey& pass)
      : flow_(flow), up_(flow.up().open(pass)), id_{pass.pass, 0, pass.repeat} {}

  bool next(Datapoint& out) override {
    const PartTimer timer(flow_.context().name, &out);
    const std::vector<Tensor> rows = make_rows(flow_.up().spec(), flow_.batch_size(), out);
    Datapoint& sample = out.child(0);
    int64_t count = 0;
    while (count < flow_.batch_size() && up_->next(sample)) flow_.store(sample, rows, count++);
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

/// Batches without rows.
class JoiningCursor final : public Cursor {
 public:
  JoiningCursor(const BatchedFlow& flow, const PassKey& pass)
      : flow_(flow), up_(flow.up().open(pass)), groups_(flow), id_{pass.pass, 0, pass.repeat} {}

  bool next(Datapoint& out) override {
    const PartTimer timer(flow_.context().name, &out);
    std::vector<Datapoint>* const samples = next_samples();
    if (samples == nullptr) return false;
    out.set_id(id_);
    ++id_.index;
    try {
      flow_.join(*samples, out);
    } catch (...) {
      rethrow_with_sample(flow_.context().place_of(out.id()));
    }
    return true;
  }
  int64_t skip(int64_t count) override {
    int64_t skipped = 0;
    for (; skipped < count && next_samples() != nullptr; ++skipped) ++id_.index;
    return skipped;
  }

 private:
  std::vector<Datapoint>* next_samples() {
    while (!ended_ && up_->next(sample_)) {
      flow_.decode(sample_);
      if (auto* const samples = groups_.add(sample_)) return samples;
    }
    ended_ = true;
    return flow_.keeps_remainder() ? groups_.next_rest() : nullptr;
  }

  const BatchedFlow& flow_;
  std::unique_ptr<Cursor> up_;
  SampleGroups groups_;
  SampleId id_;
  Datapoint sample_;
  bool ended_ = false;
};

}  // namespace

BatchedFlow::BatchedFlow(const FlowPtr& up, int64_t batch_size, Remainder remainder, StageContext context)
    : BatchedFlow(up, batch_size, remainder, std::move(context),
                  batches_of(up->spec(), *up, batch_size, remainder)) {
  check_shapes(this->up().spec(), context_);
}

BatchedFlow::BatchedFlow(FlowPtr up, int64_t batch_size, Remainder remainder, StageContext context,
                         Spec batches)
    : WrappedFlow(std::move(up)),
      batch_size_(batch_size),
      remainder_(remainder),
      context_(std::move(context)),
      spec_(std::move(batches)) {}

Spec BatchedFlow::batches_of(const Spec& samples, const Flow& up, int64_t batch_size, Remainder remainder) {
  const auto count = up.size();
  // None if files are not listed yet.
  const bool even = count && *count > 0 && (*count == kEndless || *count % batch_size == 0);
  return samples.batched(even || remainder == Remainder::kDrop ? batch_size : Shape::kUnknown);
}

int64_t BatchedFlow::count_batches(int64_t samples) const {
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
  return samples ? std::optional(count_batches(*samples)) : std::nullopt;
}

int64_t BatchedFlow::places() const { return count_batches(up().places()); }

void BatchedFlow::prepare() const {
  up().prepare();
  const auto samples = up().size();
  if (!samples || count_batches(*samples) > 0) return;
  std::string text = context_.name + ": a pass has " + std::to_string(*samples) + " samples, batch_size is " +
                     std::to_string(batch_size_);
  if (*samples > 0) text += "; use a smaller batch_size or set remainder: true";
  throw ConfigError(context_.position, text);
}

bool BatchedFlow::get(const PassKey& pass, int64_t place, Datapoint& out) const {
  const PartTimer timer(context_.name, &out);
  const int64_t count = samples_at(place);
  const SampleId id{pass.pass, place, pass.repeat};
  if (!has_rows()) {
    std::vector<Datapoint> samples(static_cast<size_t>(count));
    for (int64_t row = 0; row < count; ++row) {
      Datapoint& sample = samples[static_cast<size_t>(row)];
      up().get(pass, place * batch_size_ + row, sample);
      decode(sample);
    }
    out.set_id(id);
    try {
      join(samples, out);
    } catch (...) {
      rethrow_with_sample(context_.place_of(id));
    }
    return true;
  }
  const std::vector<Tensor> rows = make_rows(up().spec(), count, out);
  Datapoint& sample = out.child(0);
  for (int64_t row = 0; row < count; ++row) {
    up().get(pass, place * batch_size_ + row, sample);
    store(sample, rows, row);
  }
  out.set_id(id);
  return true;
}

std::unique_ptr<Cursor> BatchedFlow::open(const PassKey& pass) const {
  if (access() == Access::kIndexed) return cursor_by_place(*this, pass);
  if (has_rows()) return std::make_unique<RowCursor>(*this, pass);
  return std::make_unique<JoiningCursor>(*this, pass);
}

std::string BatchedFlow::group_of(const Datapoint& /*sample*/) const { return {}; }

void BatchedFlow::decode(Datapoint& sample) const {
  try {
    for (size_t i = 0; i < sample.size(); ++i) sample.to_tensor(i);
  } catch (...) {
    rethrow_with_sample(context_.place_of(sample.id(), up().file_of(sample.id())));
  }
}

void BatchedFlow::store(Datapoint& sample, std::span<const Tensor> rows, int64_t row) const {
  try {
    store_row(sample, rows, row);
  } catch (...) {
    rethrow_with_sample(context_.place_of(sample.id(), up().file_of(sample.id())));
  }
}

SampleError BatchedFlow::error_of(const Datapoint& sample, const std::string& text) const {
  return {ErrorKind::kData, context_.place_of(sample.id(), up().file_of(sample.id())), text};
}

void BatchedFlow::join(std::span<Datapoint> samples, Datapoint& batch) const {
  TPACK_ASSERT(!samples.empty(), "a batch without samples");
  batch.resize(samples[0].size());
  std::vector<Tensor> rows;
  for (size_t i = 0; i < samples[0].size(); ++i) {
    const TensorSpec& spec = samples[0].tensor(i).spec();
    rows.push_back(batch.renew(i, {spec.dtype, spec.shape.prepend(std::ssize(samples))}));
  }
  for (size_t row = 0; row < samples.size(); ++row) store(samples[row], rows, static_cast<int64_t>(row));
}

std::vector<Datapoint>* SampleGroups::add(Datapoint& sample) {
  const auto [entry, is_new] = numbers_.try_emplace(flow_.group_of(sample), groups_.size());
  if (is_new) groups_.emplace_back();
  Group& group = groups_[entry->second];
  if (group.samples.size() <= group.count) group.samples.emplace_back();
  std::swap(group.samples[group.count++], sample);
  return static_cast<int64_t>(group.count) == flow_.batch_size() ? taken(group) : nullptr;
}

std::vector<Datapoint>* SampleGroups::next_rest() {
  while (rest_ < groups_.size()) {
    if (Group& group = groups_[rest_++]; group.count > 0) return taken(group);
  }
  groups_.clear();
  numbers_.clear();
  rest_ = 0;
  return nullptr;
}

std::vector<Datapoint>* SampleGroups::taken(Group& group) {
  group.samples.resize(group.count);
  group.count = 0;
  return &group.samples;
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
