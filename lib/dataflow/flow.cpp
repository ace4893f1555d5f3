#include "dataflow/flow.h"

#include <algorithm>

#include "core/error.h"
#include "core/stop.h"
#include "dataflow/datapoint.h"
#include "dataflow/read_stop.h"
#include "dataflow/source.h"

namespace tpack {
namespace {

class PlaceCursor final : public Cursor {
 public:
  PlaceCursor(const Flow& flow, const PassKey& pass) : flow_(flow), pass_(pass) {}

  bool next(Datapoint& out) override {
    while (place_ < flow_.places()) {
      if (flow_.get(pass_, place_++, out)) return true;
    }
    return false;
  }
  int64_t skip(int64_t count) override {
    if (flow_.access() == Access::kFiltered) return Cursor::skip(count);
    const int64_t skipped = std::min(count, flow_.places() - place_);
    place_ += skipped;
    return skipped;
  }

 private:
  const Flow& flow_;
  PassKey pass_;
  int64_t place_ = 0;
};

}  // namespace

const char* name_of(Seek seek) {
  switch (seek) {
    case Seek::kExact:
      return "exact";
    case Seek::kReplayReads:
      return "replay_reads";
    case Seek::kNone:
      return "none";
  }
  return "";
}

int64_t Cursor::skip(int64_t count) {
  Datapoint thrown_away;
  for (int64_t i = 0; i < count; ++i) {
    if (ReadStop::requested()) throw Stopped();
    if (!next(thrown_away)) return i;
  }
  return count;
}

Seek Flow::seek() const { return access() == Access::kIndexed ? Seek::kExact : Seek::kReplayReads; }

std::optional<int64_t> Flow::size() const {
  return access() == Access::kIndexed ? std::optional(places()) : std::nullopt;
}

int64_t Flow::places() const {
  TPACK_ASSERT(false, "places of a sequential flow");
  return 0;
}

bool Flow::get(const PassKey& /*pass*/, int64_t /*place*/, Datapoint& /*out*/) const {
  TPACK_ASSERT(false, "an item by place of a sequential flow");
  return false;
}

std::unique_ptr<Cursor> Flow::open(const PassKey& pass) const { return cursor_by_place(*this, pass); }

std::string sample_name(const Flow& flow, const SampleId& id) {
  std::string name = flow.file_of(id);
  if (!name.empty()) return name;
  const std::vector<const Source*> sources = flow.sources();
  const auto* source = sources.empty() ? nullptr : dynamic_cast<const RandomAccessSource*>(sources.front());
  const bool is_indexed = source != nullptr && id.index < source->size();
  return "sample " +
         std::to_string(is_indexed ? source->part<DerivedSamples>().index_in_data(id.index) : id.index);
}

std::unique_ptr<Cursor> cursor_by_place(const Flow& flow, const PassKey& pass) {
  return std::make_unique<PlaceCursor>(flow, pass);
}

}  // namespace tpack
