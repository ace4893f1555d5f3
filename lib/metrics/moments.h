#pragma once

namespace tpack {

/// The mean of some numbers, and the sum of their squared differences from it.
struct MeanAndVariation {
  double& mean;
  double& variation;
};

/// Takes in `more` numbers with their own mean and variation, after `samples` others. They are joined rather
/// than summed: a difference of sums of squares has no digit left if the mean is large. Source: Chan, Golub
/// and LeVeque 1979.
inline void join(const MeanAndVariation& total, double samples, double mean, double variation, double more) {
  if (samples + more == 0) return;
  const double apart = mean - total.mean;
  total.mean += apart * more / (samples + more);
  total.variation += variation + apart * apart * samples * more / (samples + more);
}

}  // namespace tpack
