#include <algorithm>
#include <cmath>
#include <deque>
#include <mutex>
#include <numeric>

#include "core/error.h"
#include "core/registry.h"
#include "core/rng.h"
#include "core/text.h"
#include "dataflow/datapoint.h"
#include "dataflow/flow_field.h"
#include "dataflow/merged_flow.h"

namespace tpack {
namespace {

struct RandomChooseDataParams {
  std::vector<FlowField> flows;
  std::optional<std::vector<double>> probabilities = {};
};

/// Draws a flow for each place of a pass, independently.
class FlowDraw {
 public:
  FlowDraw(uint64_t key, const std::vector<double>& ends) : key_(key), ends_(&ends) {}

  size_t operator()(int64_t place) const {
    constexpr double kUnit = 0x1p-53;
    const double drawn = static_cast<double>(mix(key_, static_cast<uint64_t>(place)) >> 11U) * kUnit;
    const auto at = std::upper_bound(ends_->begin(), ends_->end() - 1, drawn);
    return static_cast<size_t>(at - ends_->begin());
  }

 private:
  uint64_t key_;
  const std::vector<double>* ends_;  // of the flows' parts of 0..1; the last is taken as 1
};

/// A pass ends where a flow that has ended is drawn. The draws before a place say how many samples of its
/// flow come before it; their numbers are kept for every kBlock-th place, so that any place is found without
/// reading.
class ChosenFlows final : public MergedFlow {
 public:
  ChosenFlows(std::vector<FlowPtr> all, std::vector<double> probabilities, const StageContext& context)
      : MergedFlow(std::move(all), context, "RandomChooseData"), ends_(std::move(probabilities)) {
    std::partial_sum(ends_.begin(), ends_.end(), ends_.begin());
  }

  /// A pass has as many places as all flows together; those after its end are empty.
  Access access() const override {
    const Access of_flows = MergedFlow::access();
    if (of_flows != Access::kIndexed || context().keeps_order) return of_flows;
    return never_ends() ? Access::kIndexed : Access::kFiltered;
  }
  std::optional<int64_t> size() const override {
    return never_ends() ? std::optional(kEndless) : std::nullopt;
  }
  std::string repeats() const override {
    return "RandomChooseData draws samples, and ends before some of them are drawn";
  }
  std::unique_ptr<Cursor> open(const PassKey& pass) const override {
    if (MergedFlow::access() == Access::kIndexed) return cursor_by_place(*this, pass);
    return std::make_unique<InOrder>(*this, pass);
  }

 protected:
  std::optional<From> locate(const PassKey& pass, int64_t place) const override {
    if (context().keeps_order) return in_order(place);
    const FlowDraw draw(pass.key(context().key), ends_);
    std::vector<int64_t> counts = counts_before(pass, place / kBlock, draw);
    for (int64_t at = place / kBlock * kBlock; at < place; ++at) ++counts[draw(at)];
    for (size_t k = 0; k < counts.size(); ++k)
      if (counts[k] > flows()[k]->places()) return std::nullopt;
    const size_t flow = draw(place);
    if (counts[flow] >= flows()[flow]->places()) return std::nullopt;
    return From{flow, counts[flow]};
  }

 private:
  static constexpr int64_t kBlock = 128;
  static constexpr size_t kPasses = 4;  // whose counts are kept: readers are in neighboring passes

  struct Counts {
    uint64_t key = 0;
    std::vector<int64_t> before = {};  // samples of each flow before each block
  };

  bool never_ends() const {
    return std::all_of(flows().begin(), flows().end(),
                       [](const FlowPtr& flow) { return flow->size() == kEndless; });
  }
  std::vector<int64_t> counts_before(const PassKey& pass, int64_t block, const FlowDraw& draw) const {
    const size_t count = flows().size();
    const uint64_t key = pass.key(context().key);
    const std::lock_guard lock(counting_);
    auto known = std::find_if(counts_.begin(), counts_.end(), [&](const Counts& c) { return c.key == key; });
    if (known == counts_.end()) {
      counts_.push_front({key, std::vector<int64_t>(count, 0)});
      if (counts_.size() > kPasses) counts_.pop_back();
      known = counts_.begin();
    }
    std::vector<int64_t>& before = known->before;
    while (std::ssize(before) / std::ssize(flows()) <= block) {
      std::vector<int64_t> next(before.end() - std::ssize(flows()), before.end());
      const int64_t begin = (std::ssize(before) / std::ssize(flows()) - 1) * kBlock;
      for (int64_t at = begin; at < begin + kBlock; ++at) ++next[draw(at)];
      before.insert(before.end(), next.begin(), next.end());
    }
    const auto at = before.begin() + block * std::ssize(flows());
    return {at, at + std::ssize(flows())};
  }

  class InOrder final : public Cursor {
   public:
    InOrder(const ChosenFlows& flow, const PassKey& pass)
        : flow_(flow), draw_(pass.key(flow.context().key), flow.ends_) {
      for (const FlowPtr& one : flow.flows()) cursors_.push_back(one->open(pass));
    }

    bool next(Datapoint& out) override {
      while (!ended_) {
        const size_t flow = flow_.context().keeps_order ? in_order_ : draw_(place_++);
        if (cursors_[flow]->next(out)) {
          flow_.number(out, flow);
          return true;
        }
        ended_ = !flow_.context().keeps_order || ++in_order_ == cursors_.size();
      }
      return false;
    }

   private:
    const ChosenFlows& flow_;
    FlowDraw draw_;
    std::vector<std::unique_ptr<Cursor>> cursors_;
    int64_t place_ = 0;
    size_t in_order_ = 0;  // the flow to be read, if there is no draw
    bool ended_ = false;
  };

  std::vector<double> ends_;
  mutable std::mutex counting_;
  mutable std::deque<Counts> counts_;  // the last passes, newest first
};

/// Source: tensorpack dataflow/common.py, RandomChooseData.
class RandomChooseData final : public Source {
 public:
  using Params = RandomChooseDataParams;
  static Schema<Params> schema() {
    return Schema<Params>(
               "Draws one of several flows for each sample, and takes its next sample. A pass ends when a "
               "flow "
               "is drawn that has ended; with RepeatedData in every flow, it never ends. All flows must have "
               "the same components.")
        .example("RandomChooseData: {flows: [images, more_images], probabilities: [0.75, 0.25]}")
        .field("flows", &Params::flows, "the flows, each a list of components or the name of a flow")
        .required()
        .shorthand()
        .field("probabilities", &Params::probabilities,
               "probability of each flow; their sum must be 1; default: all are equal");
  }
  explicit RandomChooseData(Params p) : p_(std::move(p)) {
    if (p_.flows.empty()) throw ConfigError("RandomChooseData: 'flows' is empty; name at least one flow");
    if (!p_.probabilities)
      p_.probabilities.emplace(p_.flows.size(), 1.0 / static_cast<double>(p_.flows.size()));
    const std::vector<double>& all = *p_.probabilities;
    if (all.size() != p_.flows.size())
      throw ConfigError("RandomChooseData: 'probabilities' has " + std::to_string(all.size()) +
                        " numbers for " + std::to_string(p_.flows.size()) + " flows; write one for each");
    const double sum = std::accumulate(all.begin(), all.end(), 0.0);
    if (std::any_of(all.begin(), all.end(), [](double one) { return !(one > 0 && one <= 1); }))
      throw ConfigError(
          "RandomChooseData: a probability must be above 0 and at most 1; remove a flow that is "
          "never drawn");
    constexpr double kRounding = 1e-6;
    if (std::abs(sum - 1) > kRounding)
      throw ConfigError("RandomChooseData: the sum of 'probabilities' is " + short_text(sum) + "; must be 1");
  }

  FlowPtr flow(const StageContext& context, FlowBuilder& builder) override {
    std::vector<FlowPtr> flows = build_flows(p_.flows, builder);
    if (flows.empty()) return nullptr;
    return std::make_shared<ChosenFlows>(std::move(flows), *p_.probabilities, context);
  }

 private:
  Params p_;
};

TPACK_REGISTER(Source, RandomChooseData, "RandomChooseData");

}  // namespace
}  // namespace tpack
