#include <algorithm>
#include <limits>
#include <tuple>

#include "core/error.h"
#include "core/registry.h"
#include "core/rng.h"
#include "dataflow/datapoint.h"
#include "dataflow/flow_field.h"
#include "dataflow/merged_flow.h"

namespace tpack {
namespace {

__extension__ using Wide = unsigned __int128;

struct RandomMixDataParams {
  std::vector<FlowField> flows;
};

/// Sample i of a flow of n samples comes at a random time between i/n and (i+1)/n of the pass, so the flows
/// keep their orders, are mixed by their lengths, and end together; and the sample at any place is found by
/// looking at a few times, without reading.
class MixedFlow final : public MergedFlow {
 public:
  MixedFlow(std::vector<FlowPtr> all, const StageContext& context)
      : MergedFlow(std::move(all), context, "RandomMixData") {
    for (size_t k = 0; k < flows().size(); ++k)
      if (flows()[k]->access() == Access::kFiltered)
        throw mistake("flow " + std::to_string(k + 1) +
                      " drops samples, so its length is unknown; drop them after the RandomMixData");
  }

  std::optional<int64_t> size() const override {
    int64_t all = 0;
    for (const FlowPtr& flow : flows()) {
      const auto size = flow->size();
      if (!size || *size == kEndless) return std::nullopt;
      all += *size;
    }
    return all;
  }
  void prepare() const override {
    MergedFlow::prepare();
    for (size_t k = 0; k < flows().size(); ++k) {
      const std::string flow = "flow " + std::to_string(k + 1);
      if (flows()[k]->size() == kEndless)
        throw mistake(flow + " never ends, and flows are mixed by their lengths; use RandomChooseData");
      if (!flows()[k]->size())
        throw mistake("the length of " + flow +
                      " is unknown, and flows are mixed by their lengths; use RandomChooseData, or put "
                      "CacheData at the end of that flow");
    }
  }
  std::unique_ptr<Cursor> open(const PassKey& pass) const override {
    if (access() != Access::kSequential) return cursor_by_place(*this, pass);
    return std::make_unique<InOrder>(*this, pass);
  }

 protected:
  std::optional<From> locate(const PassKey& pass, int64_t place) const override {
    if (context().keeps_order) return in_order(place);
    const uint64_t key = pass.key(context().key);
    const int64_t count = std::ssize(flows());
    const int64_t all = places();
    std::vector<Time> near;
    int64_t before = 0;  // samples whose time is certainly before that of the place
    for (size_t k = 0; k < flows().size(); ++k) {
      const int64_t own = flows()[k]->places();
      if (own == 0) continue;
      const auto share = [&](int64_t at) {
        return static_cast<int64_t>(static_cast<Wide>(std::clamp<int64_t>(at, 0, all)) *
                                    static_cast<Wide>(own) / static_cast<Wide>(all));
      };
      const int64_t first = std::max<int64_t>(share(place - count) - 2, 0);
      const int64_t end = std::min(share(place + count) + 2, own);
      before += first;
      for (int64_t i = first; i < end; ++i) near.push_back(time_of(key, k, i));
    }
    const auto at = near.begin() + (place - before);
    std::nth_element(near.begin(), at, near.end());
    return From{at->flow, at->index};
  }

 private:
  struct Time {
    uint64_t time = 0;  // 2^62 is the end of the pass
    size_t flow = 0;
    int64_t index = 0;

    bool operator<(const Time& other) const {
      return std::tie(time, flow, index) < std::tie(other.time, other.flow, other.index);
    }
  };
  Time time_of(uint64_t key, size_t flow, int64_t index) const {
    constexpr unsigned kFraction = 32;
    constexpr unsigned kEnd = 62;
    const uint64_t drawn = mix(mix(key, flow), static_cast<uint64_t>(index)) >> kFraction;
    const Wide place = (static_cast<Wide>(index) << kFraction) + drawn;
    const auto size = static_cast<Wide>(*flows()[flow]->size());
    return {static_cast<uint64_t>((place << (kEnd - kFraction)) / size), flow, index};
  }

  class InOrder final : public Cursor {
   public:
    InOrder(const MixedFlow& flow, const PassKey& pass) : flow_(flow), key_(pass.key(flow.context().key)) {
      for (size_t k = 0; k < flow.flows().size(); ++k) {
        cursors_.push_back(flow.flows()[k]->open(pass));
        if (*flow.flows()[k]->size() > 0) next_.push_back(flow.time_of(key_, k, 0));
      }
    }

    bool next(Datapoint& out) override {
      const auto flow = step();
      if (!flow) return false;
      if (!cursors_[*flow]->next(out))
        throw DataError("RandomMixData: flow " + std::to_string(*flow + 1) + " ended before its length");
      flow_.number(out, *flow);
      return true;
    }
    int64_t skip(int64_t count) override {
      std::vector<int64_t> counts(cursors_.size());
      int64_t skipped = 0;
      for (; skipped < count; ++skipped) {
        const auto flow = step();
        if (!flow) break;
        ++counts[*flow];
      }
      for (size_t k = 0; k < counts.size(); ++k) cursors_[k]->skip(counts[k]);
      return skipped;
    }

   private:
    /// The flow of the next sample; nothing at the end.
    std::optional<size_t> step() {
      if (next_.empty()) return std::nullopt;
      const auto first =
          flow_.context().keeps_order ? next_.begin() : std::min_element(next_.begin(), next_.end());
      const size_t flow = first->flow;
      if (first->index + 1 < *flow_.flows()[flow]->size())
        *first = flow_.time_of(key_, flow, first->index + 1);
      else
        next_.erase(first);
      return flow;
    }

    const MixedFlow& flow_;
    uint64_t key_;
    std::vector<std::unique_ptr<Cursor>> cursors_;
    std::vector<Time> next_;  // of each flow that has not ended
  };
};

/// Source: tensorpack dataflow/common.py, RandomMixData.
class RandomMixData final : public Source {
 public:
  using Params = RandomMixDataParams;
  static Schema<Params> schema() {
    return Schema<Params>(
               "Mixes several flows at random, by their lengths: a pass has each sample of each flow once, "
               "and "
               "all flows end together. All must have the same components; each flow keeps its own order.")
        .example("RandomMixData: [images, more_images]")
        .field("flows", &Params::flows, "the flows, each a list of components or the name of a flow")
        .required()
        .shorthand();
  }
  explicit RandomMixData(Params p) : p_(std::move(p)) {
    if (p_.flows.empty()) throw ConfigError("RandomMixData: 'flows' is empty; name at least one flow");
  }

  FlowPtr flow(const StageContext& context, FlowBuilder& builder) override {
    std::vector<FlowPtr> flows = build_flows(p_.flows, builder);
    if (flows.empty()) return nullptr;
    return std::make_shared<MixedFlow>(std::move(flows), context);
  }

 private:
  Params p_;
};

TPACK_REGISTER(Source, RandomMixData, "RandomMixData");

}  // namespace
}  // namespace tpack
