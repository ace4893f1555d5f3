#include "train/callback.h"

#include <algorithm>

namespace tpack {

Schema<Callback::Common> Callback::common_schema() {
  return Schema<Common>("What every callback has.")
      .field("ranks", &Common::ranks,
             "the processes that it runs on: chief (rank 0), or all; default: docs/callbacks.md");
}

void Callback::take(const Common& common) {
  const char* why = why_ranks_are_fixed();
  if (common.ranks && why != nullptr && (*common.ranks == Ranks::kChief) != chief_only())
    throw ConfigError("'ranks' must be " + std::string(chief_only() ? "chief" : "all") + ": " + why);
  ranks_ = common.ranks;
}

size_t Setup::statistic(const Ref<Stat>& name) const {
  std::vector<std::string> known;
  for (const StepStatistic& own : statistics()) known.push_back(own.name);
  const auto found = std::find(known.begin(), known.end(), name.name);
  if (found == known.end())
    throw unknown_reference("statistic of the training step", name.name, name.position, known);
  return static_cast<size_t>(found - known.begin());
}

}  // namespace tpack
