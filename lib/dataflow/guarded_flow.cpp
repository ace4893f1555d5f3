#include "dataflow/guarded_flow.h"

#include "core/error.h"
#include "dataflow/datapoint.h"
#include "dataflow/part_times.h"

namespace tpack {
namespace {

class SkippingCursor final : public Cursor {
 public:
  SkippingCursor(const GuardedFlow& flow, const PassKey& pass) : flow_(flow), up_(flow.up().open(pass)) {}

  bool next(Datapoint& out) override {
    for (int bad = 0;;) {
      try {
        if (!up_->next(out)) return false;
        flow_.decode_images(out);
        return true;
      } catch (const SampleError& error) {
        flow_.tolerate(error, ++bad);
      }
    }
  }

 private:
  const GuardedFlow& flow_;
  std::unique_ptr<Cursor> up_;
};

}  // namespace

GuardedFlow::GuardedFlow(FlowPtr up, OnError policy, std::shared_ptr<BadSamples> bad)
    : WrappedFlow(std::move(up)), policy_(policy), bad_(std::move(bad)) {
  TPACK_ASSERT(policy != OnError::kStop, "a guard that does nothing");
  if (policy == OnError::kReplace && this->up().access() != Access::kIndexed) {
    throw ConfigError(
        "on_error: replace needs samples that can be read by index; this flow drops samples or is "
        "sequential; use on_error: skip");
  }
}

Access GuardedFlow::access() const {
  if (policy_ == OnError::kReplace || up().access() == Access::kSequential) return up().access();
  return Access::kFiltered;
}

Seek GuardedFlow::seek() const {
  return policy_ == OnError::kSkip && up().seek() != Seek::kNone ? Seek::kReplayReads : up().seek();
}

std::optional<int64_t> GuardedFlow::size() const {
  return policy_ == OnError::kReplace ? up().size() : std::nullopt;
}

void GuardedFlow::tolerate(const SampleError& error, int in_a_row) const {
  if (error.kind() != ErrorKind::kData || in_a_row > kMaxInARow) throw error;
  bad_->report(error);
}

void GuardedFlow::decode_images(Datapoint& sample) const {
  const PartTimer timer(kDecodingPart, &sample);
  for (size_t i = 0; i < sample.size(); ++i) {
    if (!sample.is_image(i)) continue;
    try {
      sample.image(i).pixels();
    } catch (...) {
      rethrow_with_sample({.stage = "decoding", .id = sample.id(), .file = file_of(sample.id())});
    }
  }
}

bool GuardedFlow::get(const PassKey& pass, int64_t place, Datapoint& out) const {
  return policy_ == OnError::kReplace ? get_replacing(pass, place, out) : get_skipping(pass, place, out);
}

bool GuardedFlow::get_replacing(const PassKey& pass, int64_t place, Datapoint& out) const {
  const int64_t places = up().places();
  for (int bad = 0;; place = (place + 1) % places) {
    try {
      if (!up().get(pass, place, out)) return false;
      decode_images(out);
      return true;
    } catch (const SampleError& error) {
      ++bad;
      if (bad >= places) throw;  // the whole pass was tried
      tolerate(error, bad);
    }
  }
}

bool GuardedFlow::get_skipping(const PassKey& pass, int64_t place, Datapoint& out) const {
  try {
    const bool there = up().get(pass, place, out);
    if (there) decode_images(out);
    kept();
    return there;
  } catch (const SampleError& error) {
    skip(error);
    return false;
  }
}

std::unique_ptr<Cursor> GuardedFlow::open(const PassKey& pass) const {
  if (access() == Access::kSequential) return std::make_unique<SkippingCursor>(*this, pass);
  return cursor_by_place(*this, pass);
}

}  // namespace tpack
