#include "core/registry.h"
#include "dataflow/batched_flow.h"

namespace tpack {
namespace {

/// Samples per batch; 0: auto.
struct BatchSize {
  int64_t count = 0;
};

}  // namespace

template <>
struct Codec<BatchSize> {
  static FieldType type() {
    return FieldType::either({FieldType::choice({"auto"}), FieldType::integer()}, "auto or an integer");
  }
  static std::optional<BatchSize> parse(const ConfigNode& node, Reader& reader) {
    constexpr int64_t kMost = 1 << 24;
    if (node.is_string() && node.text() == "auto") return BatchSize{};
    if (node.kind() == ConfigNode::Kind::kInt && node.as_int() >= 1 && node.as_int() <= kMost)
      return BatchSize{node.as_int()};
    reader.wrong_type(node, "'auto' or a number of samples from 1 to " + std::to_string(kMost));
    return std::nullopt;
  }
  static ConfigNode dump(BatchSize size) {
    return size.count == 0 ? ConfigNode("auto") : ConfigNode(size.count);
  }
};

namespace {

struct BatchDataParams {
  BatchSize batch_size;
  bool remainder = false;
};

/// Source: tensorpack dataflow/common.py, BatchData.
class BatchData final : public Stage {
 public:
  using Params = BatchDataParams;
  static Schema<Params> schema() {
    return Schema<Params>("Stacks samples along a new first axis.")
        .example("BatchData: {batch_size: 32}")
        .field("batch_size", &Params::batch_size,
               "samples per batch; auto, in data.train: as many as fit in engine.memory_mb, found before "
               "training")
        .required()
        .shorthand()
        .field("remainder", &Params::remainder,
               "true: samples left over at the end of a pass make a smaller batch; false: they are dropped");
  }
  explicit BatchData(Params p) : p_(p) {}

  FlowPtr wrap(FlowPtr up, const StageContext& context) const override {
    if (p_.batch_size.count == 0)
      throw ConfigError(
          context.position,
          "batch_size: auto is only for data.train, in train, check and bench; write a number, or "
          "add --set data.train.BatchData.batch_size=NUMBER");
    const auto remainder = p_.remainder ? BatchedFlow::Remainder::kKeep : BatchedFlow::Remainder::kDrop;
    return std::make_shared<BatchedFlow>(up, p_.batch_size.count, remainder, context);
  }

 private:
  Params p_;
};

TPACK_REGISTER(Stage, BatchData, "BatchData");

}  // namespace
}  // namespace tpack
