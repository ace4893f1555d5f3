#pragma once

#include <memory>
#include <thread>
#include <type_traits>
#include <vector>

#include "comm/local_group.h"

namespace tpack {

/// Calls `work` on each of `count` ranks at the same time; returns its results, by rank.
template <class Work>
auto on_ranks(int count, const Work& work) {
  using Result = std::invoke_result_t<const Work&, int, std::unique_ptr<Comm>>;
  constexpr bool kHasResult = !std::is_void_v<Result>;
  LocalGroup group(count, 60);
  std::vector<std::conditional_t<kHasResult, Result, int>> results(static_cast<size_t>(count));
  std::vector<std::thread> threads;
  for (int rank = 0; rank < count; ++rank) {
    threads.emplace_back([&, rank] {
      if constexpr (kHasResult)
        results[static_cast<size_t>(rank)] = work(rank, group.member(rank));
      else
        work(rank, group.member(rank));
    });
  }
  for (std::thread& thread : threads) thread.join();
  return results;
}

}  // namespace tpack
