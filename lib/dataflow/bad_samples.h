#pragma once

#include <cstdint>
#include <functional>
#include <mutex>
#include <set>
#include <string>
#include <utility>

#include "dataflow/sample_error.h"

namespace tpack {

/// Counts the bad samples of one flow that were skipped or replaced, each once even in several passes.
/// Threads: any number at once.
class BadSamples {
 public:
  using Callback = std::function<void(const SampleError&)>;

  /// Called once for each bad sample, one at a time, by the thread that found it. Must be set before reading.
  void on_bad_sample(Callback callback);
  void report(const SampleError& error);
  int64_t count() const;

 private:
  mutable std::mutex mutex_;
  Callback callback_;
  std::set<std::pair<std::string, int64_t>> known_;  // file and index in the source
};

}  // namespace tpack
