#pragma once

#include "dataflow/flow.h"
#include "dataflow/flow_settings.h"
#include "dataflow/source.h"

namespace tpack {

/// Changes the order, number or grouping of a flow's items.
class Stage {
 public:
  static constexpr const char* kKind = "stage";

  Stage() = default;
  Stage(const Stage&) = delete;
  Stage& operator=(const Stage&) = delete;
  virtual ~Stage() = default;

  /// The flow after this stage. Errors: ConfigError if the stage cannot work on `up`.
  virtual FlowPtr wrap(FlowPtr up, const StageContext& context) const = 0;
  /// True if items get another order. Such a stage is an error inside a JoinData, because it would separate
  /// the parts.
  virtual bool reorders() const { return false; }
  /// True if it keeps samples for later runs, and so needs the description of everything before it
  /// (StageContext::before).
  virtual bool keeps_samples() const { return false; }
  /// Changes how the whole flow is read; for stages that only set workers and prefetching.
  virtual void configure(FlowSettings& /*settings*/) const {}
};

/// The origin of an item in the inner flow.
struct Place {
  PassKey pass;
  int64_t index = 0;
};

/// A flow with the items of the inner flow in another order or number. By place, this costs and stores
/// nothing; `open` is for sequential flows.
class RemappedFlow : public WrappedFlow {
 public:
  using WrappedFlow::WrappedFlow;

  virtual Place locate(const PassKey& pass, int64_t place) const = 0;
  /// Over a flow that is kSequential.
  virtual std::unique_ptr<Cursor> open_sequential(const PassKey& pass) const = 0;

  std::optional<int64_t> size() const override = 0;
  int64_t places() const override = 0;
  bool get(const PassKey& pass, int64_t place, Datapoint& out) const final {
    const Place from = locate(pass, place);
    return up().get(from.pass, from.index, out);
  }
  std::unique_ptr<Cursor> open(const PassKey& pass) const final {
    return access() == Access::kSequential ? open_sequential(pass) : cursor_by_place(*this, pass);
  }
};

}  // namespace tpack
