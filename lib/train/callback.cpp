#include "train/callback.h"

#include <algorithm>

namespace tpack {

size_t Setup::statistic(const Ref<Stat>& name) const {
  std::vector<std::string> known;
  for (const StepStatistic& own : statistics()) known.push_back(own.name);
  const auto found = std::find(known.begin(), known.end(), name.name);
  if (found == known.end())
    throw unknown_reference("statistic of the training step", name.name, name.position, known);
  return static_cast<size_t>(found - known.begin());
}

}  // namespace tpack
