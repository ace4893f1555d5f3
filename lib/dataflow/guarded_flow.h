#pragma once

#include <atomic>
#include <memory>

#include "dataflow/bad_samples.h"
#include "dataflow/flow.h"
#include "dataflow/flow_settings.h"

namespace tpack {

/// A flow of samples where data errors do not stop the reader: bad samples are skipped (kSkip) or replaced by
/// the next good one (kReplace), and reported. Other errors are thrown.
class GuardedFlow final : public WrappedFlow {
 public:
  /// After this many bad samples in a row, the last error is thrown, because the samples are probably not the
  /// cause.
  static constexpr int kMaxInARow = 1000;

  /// Errors: ConfigError for kReplace over a flow without places.
  GuardedFlow(FlowPtr up, OnError policy, std::shared_ptr<BadSamples> bad);

  Access access() const override;
  Seek seek() const override;
  std::optional<int64_t> size() const override;
  bool get(const PassKey& pass, int64_t place, Datapoint& out) const override;
  std::unique_ptr<Cursor> open(const PassKey& pass) const override;

  /// Decodes the images of a sample, so that a sample with an image that cannot be decoded is also bad.
  /// Errors: SampleError.
  void decode_images(Datapoint& sample) const;
  /// Reports a data error. Errors: rethrows errors of another kind, and the last of too many in a row.
  void tolerate(const SampleError& error, int in_a_row) const;
  /// The same for a reader that reads by place, in any order and with any number of threads; `kept` is called
  /// for each good sample.
  void skip(const SampleError& error) const { tolerate(error, ++skipped_in_a_row_); }
  void kept() const {
    if (skipped_in_a_row_ != 0) skipped_in_a_row_ = 0;
  }

 private:
  bool get_replacing(const PassKey& pass, int64_t place, Datapoint& out) const;
  bool get_skipping(const PassKey& pass, int64_t place, Datapoint& out) const;

  OnError policy_;
  std::shared_ptr<BadSamples> bad_;
  mutable std::atomic<int> skipped_in_a_row_ = 0;
};

}  // namespace tpack
