#include "comm/comm.h"

#include <algorithm>

#include "core/text.h"
#include "system/log.h"

namespace tpack {

void Comm::all_reduce_sums(const std::function<std::optional<Sum>()>& next) {
  while (const std::optional<Sum> sum = next()) {
    if (const auto* doubles = std::get_if<std::span<double>>(&sum->values)) {
      all_reduce_sum(*doubles, sum->stage);
    } else {
      all_reduce_sum(std::get<std::span<float>>(sum->values), sum->stage, sum->compression);
    }
  }
}

std::string unresponsive_ranks(const std::string& who, const std::vector<int>& late,
                               const std::function<std::string(int rank)>& busy_with) {
  std::vector<std::string> silent;
  for (const int rank : late) {
    const std::string number = std::to_string(rank);
    const std::string with = busy_with(rank);
    if (with.empty()) {
      silent.push_back(number);
    } else {
      log::warning(who + "rank " + number + " is still busy with " + with + "; still waiting");
    }
  }
  return join(silent, ", ");
}

RankPart part_of_rank(size_t count, int rank, int size) {
  constexpr size_t kGrain = 16;  // one cache line of floats, so that no two members write to the same line
  const size_t grains = (count + kGrain - 1) / kGrain;
  const auto members = static_cast<size_t>(size);
  const auto edge = [&](size_t member) { return std::min(count, grains * member / members * kGrain); };
  return {edge(static_cast<size_t>(rank)), edge(static_cast<size_t>(rank) + 1)};
}

}  // namespace tpack
