#include "search/halving.h"

#include <algorithm>
#include <cmath>

namespace tpack {

std::vector<Rung> halving_rungs(size_t runs, int64_t least_epochs, int64_t most_epochs, int64_t eta) {
  std::vector<Rung> rungs;
  int64_t epochs = least_epochs;
  while (epochs < most_epochs && runs > 1) {
    rungs.push_back({epochs, runs});
    epochs = epochs > most_epochs / eta ? most_epochs : epochs * eta;
    runs = std::max<size_t>(1, runs / static_cast<size_t>(eta));
  }
  rungs.push_back({most_epochs, runs});
  return rungs;
}

std::vector<size_t> best_of(std::span<const std::optional<double>> scores, size_t keep, Goal goal) {
  std::vector<size_t> order;
  for (size_t i = 0; i < scores.size(); ++i)
    if (scores[i] && !std::isnan(*scores[i])) order.push_back(i);
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return is_better(*scores[a], *scores[b], goal); });
  order.resize(std::min(keep, order.size()));
  return order;
}

}  // namespace tpack
