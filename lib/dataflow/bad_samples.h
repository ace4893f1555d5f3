#pragma once

#include <cstdint>
#include <functional>
#include <mutex>
#include <string>

#include "dataflow/sample_error.h"

namespace tpack {

/// Counts the samples of one flow that were skipped or replaced because they are bad. Threads: any number at
/// once.
class BadSamples {
 public:
  using Callback = std::function<void(const SampleError&)>;

  /// Called for each bad sample, one at a time, by the thread that found it. Must be set before reading.
  void on_bad_sample(Callback callback);
  void report(const SampleError& error);
  int64_t count() const;

 private:
  mutable std::mutex mutex_;
  Callback callback_;
  int64_t count_ = 0;
};

}  // namespace tpack
