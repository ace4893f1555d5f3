#include "dataflow/bad_samples.h"

namespace tpack {

void BadSamples::on_bad_sample(Callback callback) {
  const std::lock_guard lock(mutex_);
  callback_ = std::move(callback);
}

void BadSamples::report(const SampleError& error) {
  const std::lock_guard lock(mutex_);
  ++count_;
  if (callback_) callback_(error);
}

int64_t BadSamples::count() const {
  const std::lock_guard lock(mutex_);
  return count_;
}

}  // namespace tpack
