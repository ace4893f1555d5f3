#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace tpack {

/// One block of Philox 4x32-10: 128 random bits from a 128-bit counter and a 64-bit key.
/// Source: Salmon et al. 2011, "Parallel Random Numbers: As Easy as 1, 2, 3"; tested against its published
/// vectors.
std::array<uint32_t, 4> philox(std::array<uint32_t, 4> counter, std::array<uint32_t, 2> key);

/// 64-bit hash of a text, stable across machines and versions (FNV-1a), to use names in keys.
uint64_t stable_hash(std::string_view text);
/// Mixes two 64-bit values into one (SplitMix64's finalizer).
uint64_t mix(uint64_t a, uint64_t b);

/// Random numbers that depend only on a key and the number of earlier draws: no shared state, so any thread
/// may draw the numbers of any sample. Threads: a value; use one per thread.
class Rng {
 public:
  /// Streams of different (key, stream) are independent.
  explicit Rng(uint64_t key, uint64_t stream = 0);

  uint32_t next();
  uint64_t next64();
  /// Uniform in [0, 1).
  float uniform();
  double uniform64();
  /// Uniform in [low, high); rounding may give `high` itself.
  float uniform(float low, float high) { return low + (high - low) * uniform(); }
  /// Uniform integer in [0, bound); bound >= 1. Without bias (Lemire's method).
  uint32_t below(uint32_t bound);
  /// Uniform integer in [low, high], both included.
  int range(int low, int high);
  /// Standard normal (Box-Muller).
  float normal();

 private:
  std::array<uint32_t, 2> key_;
  std::array<uint32_t, 4> counter_;
  std::array<uint32_t, 4> block_{};
  int used_ = 4;     // numbers of `block_` already used
  float spare_ = 0;  // second value of the last Box-Muller pair
  bool has_spare_ = false;
};

/// A pseudo-random permutation of 0..size-1 in constant memory: each element is computed independently, which
/// makes a shuffled pass seekable. A Feistel network with cycle walking.
class Permutation {
 public:
  Permutation(uint64_t size, uint64_t key);  // size <= 2^62
  /// The new position of index `i` < size; a bijection.
  uint64_t operator()(uint64_t i) const;

 private:
  uint64_t round_trip(uint64_t value) const;

  uint64_t size_;
  uint64_t key_;
  int half_bits_ = 1;  // the network permutes 2 * half_bits_ bits
};

}  // namespace tpack
