#pragma once

#include "dataflow/stage.h"

namespace tpack {

/// A flow of batches: `batch_size` samples stacked on a new first axis.
class BatchedFlow final : public WrappedFlow {
 public:
  enum class Remainder : uint8_t { kDrop, kKeep };
  /// Errors: ConfigError if the shape of a component is unknown.
  BatchedFlow(FlowPtr up, int64_t batch_size, Remainder remainder, StageContext context);

  const StageContext& context() const { return context_; }
  int64_t batch_size() const { return batch_size_; }
  bool keeps_remainder() const { return remainder_ == Remainder::kKeep; }
  /// Samples in the batch at `place`; for flows with places.
  int64_t samples_at(int64_t place) const;

  const Spec& spec() const override { return spec_; }
  Access access() const override;
  Seek seek() const override;
  std::optional<int64_t> size() const override;
  int64_t places() const override;
  /// Errors: ConfigError if one pass has no batch.
  void prepare() const override;
  std::string file_of(const SampleId& /*batch*/) const override { return {}; }
  bool get(const PassKey& pass, int64_t place, Datapoint& out) const override;
  std::unique_ptr<Cursor> open(const PassKey& pass) const override;

 private:
  int64_t batches_of(int64_t samples) const;

  int64_t batch_size_;
  Remainder remainder_;
  StageContext context_;
  Spec spec_;
};

/// The part of a flow that makes batches, before stages that only change them or their order; null for a flow
/// of samples.
const BatchedFlow* batched_of(const Flow& flow);

}  // namespace tpack
