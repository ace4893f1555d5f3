#include "core/registry.h"
#include "dataflow/batched_flow.h"

namespace tpack {
namespace {

struct BatchDataParams {
  int64_t batch_size = 0;
  bool remainder = false;
};

/// Source: tensorpack dataflow/common.py, BatchData.
class BatchData final : public Stage {
 public:
  using Params = BatchDataParams;
  static Schema<Params> schema() {
    return Schema<Params>("Stacks samples along a new first axis.")
        .example("BatchData: {batch_size: 32}")
        .field("batch_size", &Params::batch_size, between(1, 1 << 24), "samples per batch")
        .required()
        .shorthand()
        .field("remainder", &Params::remainder,
               "true: samples left over at the end of a pass make a smaller batch; false: they are dropped");
  }
  explicit BatchData(Params p) : p_(p) {}

  FlowPtr wrap(FlowPtr up, const StageContext& context) const override {
    const auto remainder = p_.remainder ? BatchedFlow::Remainder::kKeep : BatchedFlow::Remainder::kDrop;
    return std::make_shared<BatchedFlow>(std::move(up), p_.batch_size, remainder, context);
  }

 private:
  Params p_;
};

TPACK_REGISTER(Stage, BatchData, "BatchData");

}  // namespace
}  // namespace tpack
