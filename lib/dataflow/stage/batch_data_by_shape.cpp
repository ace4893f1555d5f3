#include <vector>

#include "core/error.h"
#include "core/registry.h"
#include "dataflow/batched_flow.h"
#include "dataflow/datapoint.h"

namespace tpack {
namespace {

struct BatchDataByShapeParams {
  int64_t batch_size = 0;
  ComponentRef component = "image";
  bool remainder = false;
};

/// Each batch has samples of one shape, in the order of the flow. The batches are in the order in which they
/// are complete.
class BatchedByShapeFlow final : public BatchedFlow {
 public:
  BatchedByShapeFlow(const FlowPtr& up, const BatchDataByShapeParams& p, const StageContext& context)
      : BatchedFlow(up, p.batch_size, p.remainder ? Remainder::kKeep : Remainder::kDrop, context,
                    up->spec().batched(p.remainder ? Shape::kUnknown : p.batch_size)),
        component_(up->spec().index(p.component, "stage BatchDataByShape")) {
    const ComponentSpec& component = up->spec()[component_];
    if (component.tensor.shape.known())
      throw ConfigError(p.component.position,
                        "BatchDataByShape: component '" + component.name + "' is " + component.tensor.str() +
                            " in every sample; write BatchData: " + std::to_string(p.batch_size));
  }

  bool has_rows() const override { return false; }
  bool has_groups() const override { return true; }
  std::string group_of(const Datapoint& sample) const override {
    return sample.tensor(component_).shape().str();
  }
  Access access() const override { return Access::kSequential; }
  Seek seek() const override { return std::max(up().seek(), Seek::kReplayReads); }
  std::optional<int64_t> size() const override {
    return up().size() == kEndless ? std::optional(kEndless) : std::nullopt;
  }
  void prepare() const override { up().prepare(); }

 private:
  size_t component_;
};

/// Source: tensorpack dataflow/common.py, BatchDataByShape; unlike there, samples never wait for the next
/// pass.
class BatchDataByShape final : public Stage {
 public:
  using Params = BatchDataByShapeParams;
  static Schema<Params> schema() {
    return Schema<Params>(
               "Makes batches of samples whose `component` has the same shape. The number of batches of a "
               "pass depends on the shapes, so set steps_per_epoch to a number.")
        .example("BatchDataByShape: {batch_size: 8, component: image}")
        .field("batch_size", &Params::batch_size, between(1, 1 << 24), "samples per batch")
        .required()
        .shorthand()
        .field("component", &Params::component, "the component with the shape, by name or number")
        .field(
            "remainder", &Params::remainder,
            "true: at the end of a pass, the samples of each shape that are left over make a smaller batch; "
            "false: they are dropped, so rare shapes may never occur");
  }
  explicit BatchDataByShape(Params p) : p_(std::move(p)) {}

  bool reorders() const override { return true; }
  FlowPtr wrap(FlowPtr up, const StageContext& context) const override {
    if (batched_of(*up) != nullptr)
      throw ConfigError(context.position,
                        "BatchDataByShape: the flow has batches already; use BatchDataByShape in place of "
                        "BatchData");
    return std::make_shared<BatchedByShapeFlow>(up, p_, context);
  }

 private:
  Params p_;
};

TPACK_REGISTER(Stage, BatchDataByShape, "BatchDataByShape");

}  // namespace
}  // namespace tpack
