#include "dataflow/bad_samples.h"

namespace tpack {

void BadSamples::on_bad_sample(Callback callback) {
  const std::lock_guard lock(mutex_);
  callback_ = std::move(callback);
}

void BadSamples::report(const SampleError& error) {
  const std::lock_guard lock(mutex_);
  const bool is_new = known_.emplace(error.place().file, error.place().id.index).second;
  if (is_new && callback_) callback_(error);
}

int64_t BadSamples::count() const {
  const std::lock_guard lock(mutex_);
  return static_cast<int64_t>(known_.size());
}

}  // namespace tpack
