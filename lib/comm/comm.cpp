#include "comm/comm.h"

#include <algorithm>

namespace tpack {

std::string still_busy(const std::string& who, int rank, const std::string& with) {
  return who + "rank " + std::to_string(rank) + " is still busy with " + with + "; waiting on";
}

Slice slice_of(size_t count, int rank, int size) {
  constexpr size_t kGrain = 16;  // one cache line of floats: no two members write to the same one
  const size_t grains = (count + kGrain - 1) / kGrain;
  const auto members = static_cast<size_t>(size);
  const auto edge = [&](size_t member) { return std::min(count, grains * member / members * kGrain); };
  return {edge(static_cast<size_t>(rank)), edge(static_cast<size_t>(rank) + 1)};
}

}  // namespace tpack
