#include "dataflow/data_flow.h"

#include <algorithm>
#include <future>
#include <set>
#include <vector>

#include "core/digest.h"
#include "core/error.h"
#include "core/thread_pool.h"
#include "dataflow/batched_flow.h"
#include "dataflow/datapoint.h"
#include "dataflow/fitted_data.h"
#include "dataflow/map_effects.h"
#include "dataflow/source.h"
#include "dataflow/stage.h"
#include "system/log.h"

namespace tpack {
namespace {

/// If another flow does not have a fitted map of data.train, differently scaled numbers reach the model.
/// Returns whether this happens.
bool warn_of_missing_fits(const DataFlow& train, const std::string& name, const DataFlow& flow) {
  bool has_warned = false;
  std::set<std::string> own;
  for (const auto& [map, state] : flow.flow()->learned()) own.insert(without_joins(map));
  for (const auto& [full, state] : train.flow()->learned()) {
    const std::string map = without_joins(full);
    const std::string component = map.substr(map.find(' ') + 1);
    const bool has_component = std::any_of(flow.spec().begin(), flow.spec().end(),
                                           [&](const ComponentSpec& c) { return c.name == component; });
    if (!has_component || own.contains(map)) continue;
    log::warning(flow.origin().str() + ": data." + name + " has no " + map +
                 ", but data.train has it; its '" + component + "' reaches the model unchanged");
    has_warned = true;
  }
  return has_warned;
}

/// The same for maps that are not fitted.
void warn_of_other_scale(const DataFlow& train, const std::string& name, const DataFlow& flow) {
  if (const auto difference = other_scale(train, flow))
    log::warning(flow.origin().str() + ": data." + name + ": " + *difference +
                 ", of the same samples; give both flows the same range, by the same Scale or other maps");
}

/// Every shard_count-th item, starting with the first.
class ShardCursor final : public Cursor {
 public:
  ShardCursor(std::unique_ptr<Cursor> up, const Pass& pass)
      : up_(std::move(up)), others_(pass.shard_count - 1) {
    const int64_t place = pass.position % pass.shard_count;
    const int64_t first = pass.position + (pass.shard - place + pass.shard_count) % pass.shard_count;
    up_->skip(first);
  }

  bool next(Datapoint& out) override {
    if (started_) up_->skip(others_);
    started_ = true;
    return up_->next(out);
  }
  int64_t skip(int64_t count) override {
    if (count == 0) return 0;
    if (started_) up_->skip(others_);
    started_ = true;
    const int64_t skipped = up_->skip(count + (count - 1) * others_);
    return (skipped + others_) / (others_ + 1);
  }

 private:
  std::unique_ptr<Cursor> up_;
  int64_t others_;
  bool started_ = false;
};

}  // namespace

DataFlow::DataFlow(Built built, FlowSettings settings, std::shared_ptr<BadSamples> bad, Position origin)
    : settings_(settings), bad_(std::move(bad)), origin_(std::move(origin)) {
  parts_->built = std::move(built);
}

DataFlow::DataFlow(std::function<Built()> complete, FlowSettings settings, std::shared_ptr<BadSamples> bad,
                   Position origin)
    : settings_(settings), bad_(std::move(bad)), origin_(std::move(origin)) {
  parts_->complete = std::move(complete);
}

bool DataFlow::knows_spec() const {
  const std::lock_guard lock(parts_->completing);
  return parts_->built.flow != nullptr;
}

const FlowPtr& DataFlow::flow() const {
  if (!knows_spec())
    throw ConfigError(origin_, "the contents of this flow are known only after its data is opened");
  return parts_->built.flow;  // it never changes again
}

const std::vector<FlowPart>& DataFlow::parts() const {
  [[maybe_unused]] const FlowPtr& known = flow();
  return parts_->built.parts;
}

void DataFlow::prepare() const {
  {
    const std::lock_guard lock(parts_->completing);
    if (parts_->built.flow == nullptr) parts_->built = parts_->complete();
  }
  flow()->prepare();
}

std::optional<int64_t> DataFlow::batch_size() const {
  const auto found = batching();
  return found ? std::optional(found->batch_size) : std::nullopt;
}

std::optional<Batching> DataFlow::batching() const {
  const BatchedFlow* batched = batched_of(*flow());
  if (batched == nullptr) return std::nullopt;
  // With groups, there may be several smaller batches.
  const auto samples = batched->has_groups() ? std::nullopt : batched->up().size();
  return Batching{batched->batch_size(), batched->keeps_remainder(), samples};
}

std::vector<const Source*> DataFlow::sources() const {
  prepare();
  return flow()->sources();
}

std::vector<SourceFacts> DataFlow::facts() const {
  std::vector<SourceFacts> all;
  for (const Source* source : sources()) {
    SourceFacts& facts = all.emplace_back(source->facts());
    std::set<std::string> remarks = {similar_classes(facts.classes)};
    for (const auto& [component, classes] : facts.classes_of) remarks.insert(similar_classes(classes));
    for (const std::string& remark : remarks)
      if (!remark.empty()) facts.remarks.push_back(remark);
  }
  return all;
}

std::string DataFlow::fingerprint() const {
  Digest digest;
  bool known = false;
  for (const Source* source : sources()) {
    const std::string one = source->part<SourceFiles>().fingerprint();
    known = known || !one.empty();
    digest.add(one + "\n");
  }
  return known ? digest.text() : "";
}

std::unique_ptr<Cursor> DataFlow::open(const Pass& pass) const {
  TPACK_ASSERT(pass.shard_count >= 1 && pass.shard >= 0 && pass.shard < pass.shard_count, "shard of a pass");
  check_unchanged();
  return std::make_unique<ShardCursor>(flow()->open({pass.seed, pass.pass, 0}), pass);
}

/// Each validation opens the same pass again.
void DataFlow::check_unchanged() const {
  for (const Source* source : sources()) source->check_unchanged();
}

std::unique_ptr<Stream> DataFlow::stream(StreamOptions options) const {
  check_unchanged();
  if (options.workers == 0) options.workers = settings_.workers.resolved();
  if (options.slots == 0) {
    const size_t items = batch_size() ? 1 : kSamplesOfPrefetch;
    options.slots = static_cast<size_t>(settings_.prefetch) * items + 1;
  }
  return std::make_unique<Stream>(flow(), options);
}

void prepare(const std::map<std::string, DataFlow>& flows) {
  std::map<std::string, std::future<void>> prepared;
  for (const auto& [name, flow] : flows)
    prepared[name] = std::async(kThreadIfThereIsOne, [&flow = flow] { flow.prepare(); });
  // Others may fail because they depend on it.
  if (const auto train = prepared.find("train"); train != prepared.end()) train->second.get();
  for (auto& [name, one] : prepared) {
    if (one.valid()) one.get();
  }
  const auto train = flows.find("train");
  for (const auto& [name, flow] : flows)
    if (train != flows.end() && name != "train" && !warn_of_missing_fits(train->second, name, flow))
      warn_of_other_scale(train->second, name, flow);
}

}  // namespace tpack
