#pragma once

#include <cstdint>

#include "comm/comm.h"

namespace tpack {

/// What a rank wants when all of them come together in hooks, between steps, or after a long computation of a
/// step; the largest vote of all ranks wins.
enum class RankVote : uint8_t {
  kContinue = 0,
  kSave = 1,         // a checkpoint that all write together
  kInterrupt = 2,    // a signal came, all hooks have run
  kStop = 3,         // a callback asked for the end, all hooks have run
  kInterruptNow = 4  // a signal ended a hook or a step, and this rank does nothing of what comes after it
};

/// Thrown where another rank's hook or step was cut short, while this one came to the next place where it
/// needs the others. Not an error: the loop catches it.
struct PeerInterrupted {};

/// Waits for the votes of all ranks, and returns the largest. Everything that ranks do together in hooks and
/// between them begins with this call, and so does what follows a computation of one rank that may be cut
/// short. So the rank that was cut short calls it once, with kInterruptNow, and the others learn it at their
/// next call. Errors: DistributedError; PeerInterrupted if that is what another rank has called it with.
inline RankVote agree(Comm& world, RankVote own) {
  if (world.size() == 1) return own;
  const auto all = static_cast<RankVote>(world.agree_max(static_cast<int>(own), "the stop signal"));
  if (all == RankVote::kInterruptNow && own != RankVote::kInterruptNow) throw PeerInterrupted{};
  return all;
}

}  // namespace tpack
