#pragma once

namespace tpack {

/// The mean of some numbers, and the sum of their squared differences from it.
struct MeanAndVariation {
  double& mean;
  double& variation;
};

/// Adds `more` numbers, with their mean and variation, to `samples` others. Sums of squares are not used:
/// their difference has no correct digit left if the mean is large. Source: Chan, Golub and LeVeque 1979.
inline void join(const MeanAndVariation& total, double samples, double mean, double variation, double more) {
  if (samples + more == 0) return;
  const double apart = mean - total.mean;
  total.mean += apart * more / (samples + more);
  total.variation += variation + apart * apart * samples * more / (samples + more);
}

}  // namespace tpack
