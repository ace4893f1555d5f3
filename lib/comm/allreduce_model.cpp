#include "comm/allreduce_model.h"

#include <algorithm>

namespace tpack {

double predicted_step_s(const StepProfile& profile, const NetworkLink& link, int nodes) {
  if (nodes == 1) return profile.backward_s + profile.update_s;
  int doublings = 0;
  while ((1 << doublings) < nodes) ++doublings;
  constexpr int kAgreements = 2;  // the stop signal, the next batch
  const double begin = kAgreements * 2 * doublings * link.latency_s;
  const double share = static_cast<double>(nodes - 1) / nodes;
  double free = 0;
  for (const StepProfile::Bucket& bucket : profile.buckets) {
    const double wire = 2 * share * bucket.bytes / link.bytes_per_s;
    const double additions = share * bucket.bytes / profile.sum_bytes_per_s;
    free = std::max(free, bucket.ready_s) + std::max(wire, additions);
  }
  return begin + std::max(free + 2 * link.latency_s, profile.backward_s) + profile.update_s;
}

}  // namespace tpack
