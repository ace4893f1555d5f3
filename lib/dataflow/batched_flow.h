#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "dataflow/sample_error.h"
#include "dataflow/stage.h"

namespace tpack {

/// A flow of batches: `batch_size` samples on a new first axis. This class stacks samples of equal shapes;
/// derived classes make batches of samples whose shapes differ.
class BatchedFlow : public WrappedFlow {
 public:
  enum class Remainder : uint8_t { kDrop, kKeep };
  /// Errors: ConfigError if the shape of a component is unknown.
  BatchedFlow(const FlowPtr& up, int64_t batch_size, Remainder remainder, StageContext context);

  const StageContext& context() const { return context_; }
  int64_t batch_size() const { return batch_size_; }
  bool keeps_remainder() const { return remainder_ == Remainder::kKeep; }
  /// Samples in the batch at `place`; for flows with places.
  int64_t samples_at(int64_t place) const;

  /// True: a sample is written to its row as soon as it is made. False: the samples of a batch are kept until
  /// it is complete; then `join` makes the batch of them.
  virtual bool has_rows() const { return true; }
  /// True: each batch has samples of one group, so the batch of a sample is known only after reading. Only
  /// without rows.
  virtual bool has_groups() const { return false; }
  /// The group of a decoded sample.
  virtual std::string group_of(const Datapoint& sample) const;
  /// Decodes the images of a sample of a batch without rows. Errors: SampleError.
  void decode(Datapoint& sample) const;
  /// Copies a sample to its row of a batch. Errors: SampleError if its types or shapes do not fit.
  void store(Datapoint& sample, std::span<const Tensor> rows, int64_t row) const;
  /// Makes a batch of decoded samples, which may be changed. Errors: DataError; SampleError if one of them
  /// does not fit.
  virtual void join(std::span<Datapoint> samples, Datapoint& batch) const;

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

 protected:
  /// The error of a sample that cannot be in a batch.
  SampleError error_of(const Datapoint& sample, const std::string& text) const;
  /// For batches with the components `batches`.
  BatchedFlow(FlowPtr up, int64_t batch_size, Remainder remainder, StageContext context, Spec batches);
  /// The spec of batches of `samples`, which are as many as those of `up`.
  static Spec batches_of(const Spec& samples, const Flow& up, int64_t batch_size, Remainder remainder);

 private:
  int64_t count_batches(int64_t samples) const;

  int64_t batch_size_;
  Remainder remainder_;
  StageContext context_;
  Spec spec_;
};

/// Collects the samples of a pass into batches of a flow without rows. Threads: one at a time.
class SampleGroups {
 public:
  explicit SampleGroups(const BatchedFlow& flow) : flow_(flow) {}

  /// Takes a sample; returns the samples of its batch if it completes one, else null. They may be moved away,
  /// and are valid until the next call.
  std::vector<Datapoint>* add(Datapoint& sample);
  /// At the end of a pass: the samples of the next smaller batch, in the order of the first samples of the
  /// groups; null if there is none. Afterwards, the groups of the next pass begin.
  std::vector<Datapoint>* next_rest();

 private:
  struct Group {
    std::vector<Datapoint> samples;
    size_t count = 0;  // samples that wait
  };
  std::vector<Datapoint>* taken(Group& group);

  const BatchedFlow& flow_;
  std::vector<Group> groups_;              // in the order of their first samples
  std::map<std::string, size_t> numbers_;  // of groups
  size_t rest_ = 0;                        // the next group that may have a smaller batch
};

/// The part of a flow that makes batches, before stages that only change them or their order; null for a flow
/// of samples.
const BatchedFlow* batched_of(const Flow& flow);

}  // namespace tpack
