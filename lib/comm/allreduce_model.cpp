#include "comm/allreduce_model.h"

#include <algorithm>

namespace tpack {

double predicted_step_s(const StepProfile& profile, const NetworkLink& link, int nodes) {
  if (nodes == 1) return profile.backward_s + profile.update_s;
  int doublings = 0;
  while ((1 << doublings) < nodes) ++doublings;
  constexpr int kAgreements = 2;  // the stop signal, the next batch
  const double begin = kAgreements * doublings * link.latency_s;
  const double share = static_cast<double>(nodes - 1) / nodes;
  double free = 0;
  for (const StepProfile::Bucket& bucket : profile.buckets) {
    const double exchange = link.latency_s + share * bucket.bytes / link.bytes_per_s;
    free = std::max(free, bucket.ready_s) + 2 * exchange + share * bucket.bytes / profile.sum_bytes_per_s;
  }
  return begin + std::max(free, profile.backward_s) + profile.update_s;
}

}  // namespace tpack
