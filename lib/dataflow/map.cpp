#include "dataflow/map.h"

#include <algorithm>

#include "core/error.h"
#include "dataflow/batched_flow.h"
#include "dataflow/fitted_data.h"
#include "dataflow/fitted_map.h"
#include "dataflow/part_times.h"
#include "dataflow/sample_error.h"
#include "system/log.h"

namespace tpack {
namespace {

class MapCursor final : public Cursor {
 public:
  MapCursor(const MapFlow& flow, const PassKey& pass)
      : flow_(flow), seed_(pass.seed), up_(flow.up().open(pass)) {}

  bool next(Datapoint& out) override {
    while (up_->next(out)) {
      if (flow_.apply(seed_, out)) return true;
    }
    return false;
  }
  int64_t skip(int64_t count) override { return flow_.may_drop() ? Cursor::skip(count) : up_->skip(count); }

 private:
  const MapFlow& flow_;
  uint64_t seed_;
  std::unique_ptr<Cursor> up_;
};

}  // namespace

std::optional<std::vector<std::string>> needed_if_wanted(const ComponentRef& changed,
                                                         std::vector<std::string> wanted) {
  const bool is_wanted =
      changed.index || std::find(wanted.begin(), wanted.end(), changed.name) != wanted.end();
  return is_wanted ? std::optional(std::move(wanted)) : std::nullopt;
}

MapFlow::MapFlow(FlowPtr up, std::shared_ptr<Map> map, StageContext context, Fitting fitting)
    : WrappedFlow(std::move(up)),
      map_(std::move(map)),
      context_(std::move(context)),
      fitting_(std::move(fitting)),
      spec_(map_->bind(this->up().spec())) {}

void MapFlow::prepare() const {
  up().prepare();
  auto* fitted = dynamic_cast<FittedMap*>(map_.get());
  if (fitted == nullptr) return;
  const std::lock_guard lock(learning_);
  if (learned_) return;
  try {
    const std::string name = fitted_name(context_.name, fitted->component(), up().learned());
    State state = fitting_.fit == nullptr ? learn(*fitted, name) : fitting_.fit->opened().map(name);
    fitted->use(state);
    learned_.emplace(name, std::move(state));
  } catch (const ConfigError& error) {
    Diagnostics errors;
    errors.add(error, context_.position);
    errors.throw_if_any();
  }
}

/// Fits on one pass; random choices in the flow use the seed 0, so that the result does not depend on the
/// run.
State MapFlow::learn(FittedMap& map, const std::string& name) const {
  if (batched_of(up()) != nullptr)
    throw ConfigError("a fitted map takes samples, not batches; put it before BatchData");
  if (up().size() == kEndless)
    throw ConfigError("a fitted map needs data that end; put RepeatedData after it");
  log::info("reading the data once for " + name);
  const auto cursor = up().open({});
  Datapoint d;
  bool more = true;
  while (more) {
    try {
      more = cursor->next(d);
      if (more) see(map, d);
    } catch (const SampleError& error) {
      if (!fitting_.skips_bad || error.kind() != ErrorKind::kData) throw;
    }
  }
  try {
    return map.learned();
  } catch (const DataError& error) {
    throw DataError(Problem{context_.position, error.what()}.str());
  }
}

void MapFlow::see(FittedMap& map, Datapoint& d) const {
  try {
    map.see(d);
  } catch (...) {
    rethrow_with_sample(context_.place_of(d.id(), up().file_of(d.id())));
  }
}

std::map<std::string, State> MapFlow::learned() const {
  std::map<std::string, State> all = up().learned();
  const std::lock_guard lock(learning_);
  if (learned_) all.insert(*learned_);
  return all;
}

Access MapFlow::access() const {
  const Access before = up().access();
  return before == Access::kIndexed && may_drop() ? Access::kFiltered : before;
}

Seek MapFlow::seek() const {
  return may_drop() && up().seek() != Seek::kNone ? Seek::kReplayReads : up().seek();
}

std::optional<int64_t> MapFlow::size() const { return may_drop() ? std::nullopt : up().size(); }

bool MapFlow::get(const PassKey& pass, int64_t place, Datapoint& out) const {
  return up().get(pass, place, out) && apply(pass.seed, out);
}

std::unique_ptr<Cursor> MapFlow::open(const PassKey& pass) const {
  if (access() == Access::kSequential) return std::make_unique<MapCursor>(*this, pass);
  return cursor_by_place(*this, pass);
}

bool MapFlow::apply(uint64_t seed, Datapoint& d) const {
  return apply(SampleKey{seed, d.id(), context_.key}, d);
}

bool MapFlow::apply_fixed(Datapoint& d) const { return apply(SampleKey{0, d.id(), context_.key, false}, d); }

bool MapFlow::apply(const SampleKey& key, Datapoint& d) const {
  const PartTimer timer(context_.name, &d);
  try {
    return map_->apply(d, key);
  } catch (...) {
    rethrow_with_sample(context_.place_of(d.id(), up().file_of(d.id())));
  }
}

}  // namespace tpack
