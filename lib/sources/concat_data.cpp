#include <algorithm>

#include "core/error.h"
#include "core/registry.h"
#include "dataflow/datapoint.h"
#include "dataflow/flow_field.h"
#include "dataflow/merged_flow.h"

namespace tpack {
namespace {

struct ConcatDataParams {
  std::vector<FlowField> flows;
};

class ConcatenatedFlow final : public MergedFlow {
 public:
  ConcatenatedFlow(std::vector<FlowPtr> all, const StageContext& context)
      : MergedFlow(std::move(all), context, "ConcatData") {}

  std::optional<int64_t> size() const override {
    int64_t all = 0;
    for (const FlowPtr& flow : flows()) {
      const auto size = flow->size();
      if (!size) return std::nullopt;
      all = *size == kEndless || all == kEndless ? kEndless : all + *size;
    }
    return all;
  }
  void prepare() const override {
    MergedFlow::prepare();
    for (size_t k = 0; k + 1 < flows().size(); ++k)
      if (flows()[k]->size() == kEndless)
        throw mistake("flow " + std::to_string(k + 1) +
                      " never ends, so the flows after it would never be read; remove its RepeatedData, or "
                      "use RandomChooseData");
  }
  std::unique_ptr<Cursor> open(const PassKey& pass) const override {
    if (access() != Access::kSequential) return cursor_by_place(*this, pass);
    return std::make_unique<InOrder>(*this, pass);
  }

 protected:
  std::optional<From> locate(const PassKey& /*pass*/, int64_t place) const override {
    return in_order(place);
  }

 private:
  class InOrder final : public Cursor {
   public:
    InOrder(const ConcatenatedFlow& flow, const PassKey& pass) : flow_(flow), pass_(pass) { open_next(); }

    bool next(Datapoint& out) override {
      while (cursor_ != nullptr) {
        if (cursor_->next(out)) {
          flow_.number(out, number_ - 1);
          return true;
        }
        open_next();
      }
      return false;
    }
    int64_t skip(int64_t count) override {
      int64_t skipped = 0;
      while (cursor_ != nullptr && skipped < count) {
        skipped += cursor_->skip(count - skipped);
        if (skipped < count) open_next();
      }
      return skipped;
    }

   private:
    void open_next() {
      cursor_ = number_ < flow_.flows().size() ? flow_.flows()[number_]->open(pass_) : nullptr;
      ++number_;
    }

    const ConcatenatedFlow& flow_;
    PassKey pass_;
    size_t number_ = 0;  // of the flow after the open one
    std::unique_ptr<Cursor> cursor_;
  };
};

/// Source: tensorpack dataflow/common.py, ConcatData.
class ConcatData final : public Source {
 public:
  using Params = ConcatDataParams;
  static Schema<Params> schema() {
    return Schema<Params>(
               "Several flows one after the other. All must have the same components; a flow that shuffles "
               "does so by itself. For a mixture in training, use RandomMixData.")
        .example("ConcatData: [images, more_images]")
        .field("flows", &Params::flows, "the flows, each a list of components or the name of a flow")
        .required()
        .shorthand();
  }
  explicit ConcatData(Params p) : p_(std::move(p)) {
    if (p_.flows.empty()) throw ConfigError("ConcatData: 'flows' is empty; name at least one flow");
  }

  FlowPtr flow(const StageContext& context, FlowBuilder& builder) override {
    std::vector<FlowPtr> flows = build_flows(p_.flows, builder);
    if (flows.empty()) return nullptr;
    return std::make_shared<ConcatenatedFlow>(std::move(flows), context);
  }

 private:
  Params p_;
};

TPACK_REGISTER(Source, ConcatData, "ConcatData");

}  // namespace
}  // namespace tpack
