#pragma once

#include <cstdint>

#include "comm/comm.h"

namespace tpack {

/// The vote of a rank when all of them meet in hooks, between steps, or after a long computation of a step;
/// the largest vote wins.
enum class RankVote : uint8_t {
  kContinue = 0,
  kSave = 1,         // a checkpoint that all write together
  kInterrupt = 2,    // a signal came, all hooks have run
  kStop = 3,         // a callback requested the end, all hooks have run
  kInterruptNow = 4  // a signal ended a hook or a step, and this rank skips the rest
};

/// Thrown if a hook or step of another rank was interrupted, when this rank needs the others. Not an error:
/// the loop catches it.
struct PeerInterrupted {};

/// Waits for the votes of all ranks, and returns the largest. All common work of ranks in hooks and between
/// them begins with this call, also after a computation of one rank that may be interrupted. So the
/// interrupted rank calls it once, with kInterruptNow, and the others learn about it in their next call.
/// Errors: DistributedError; PeerInterrupted if that is what another rank has called it with.
inline RankVote agree(Comm& world, RankVote own) {
  if (world.size() == 1) return own;
  const auto all = static_cast<RankVote>(world.agree_max(static_cast<int>(own), "the stop signal"));
  if (all == RankVote::kInterruptNow && own != RankVote::kInterruptNow) throw PeerInterrupted{};
  return all;
}

}  // namespace tpack
