#include "core/rng.h"

#include <cmath>
#include <numbers>
#include <string>

#include "core/error.h"

namespace tpack {

std::array<uint32_t, 4> philox(std::array<uint32_t, 4> counter, std::array<uint32_t, 2> key) {
  constexpr uint32_t kMultiplier0 = 0xD2511F53U;
  constexpr uint32_t kMultiplier1 = 0xCD9E8D57U;
  constexpr uint32_t kWeyl0 = 0x9E3779B9U;
  constexpr uint32_t kWeyl1 = 0xBB67AE85U;
  constexpr int kRounds = 10;
  for (int round = 0; round < kRounds; ++round) {
    const uint64_t product0 = static_cast<uint64_t>(kMultiplier0) * counter[0];
    const uint64_t product1 = static_cast<uint64_t>(kMultiplier1) * counter[2];
    counter = {static_cast<uint32_t>(product1 >> 32U) ^ counter[1] ^ key[0], static_cast<uint32_t>(product1),
               static_cast<uint32_t>(product0 >> 32U) ^ counter[3] ^ key[1], static_cast<uint32_t>(product0)};
    key[0] += kWeyl0;
    key[1] += kWeyl1;
  }
  return counter;
}

uint64_t stable_hash(std::string_view text) {
  uint64_t hash = 0xCBF29CE484222325U;
  for (const char c : text) {
    hash ^= static_cast<unsigned char>(c);
    hash *= 0x100000001B3U;
  }
  return hash;
}

uint64_t mix(uint64_t a, uint64_t b) {
  uint64_t z = a + 0x9E3779B97F4A7C15U * (b + 1);
  z = (z ^ (z >> 30U)) * 0xBF58476D1CE4E5B9U;
  z = (z ^ (z >> 27U)) * 0x94D049BB133111EBU;
  return z ^ (z >> 31U);
}

Rng::Rng(uint64_t key, uint64_t stream)
    : key_{static_cast<uint32_t>(key), static_cast<uint32_t>(key >> 32U)},
      counter_{0, 0, static_cast<uint32_t>(stream), static_cast<uint32_t>(stream >> 32U)} {}

uint32_t Rng::next() {
  if (used_ == 4) {
    block_ = philox(counter_, key_);
    if (++counter_[0] == 0) ++counter_[1];
    used_ = 0;
  }
  return block_[static_cast<size_t>(used_++)];
}

uint64_t Rng::next64() {
  const uint64_t high = next();
  return (high << 32U) | next();
}

float Rng::uniform() { return static_cast<float>(next() >> 8U) * 0x1p-24F; }
double Rng::uniform64() { return static_cast<double>(next64() >> 11U) * 0x1p-53; }

uint32_t Rng::below(uint32_t bound) {
  const uint32_t threshold = (0U - bound) % bound;
  while (true) {
    const uint64_t product = static_cast<uint64_t>(next()) * bound;
    if (static_cast<uint32_t>(product) >= threshold) return static_cast<uint32_t>(product >> 32U);
  }
}

int Rng::range(int low, int high) {
  return low + static_cast<int>(below(static_cast<uint32_t>(high - low) + 1));
}

float Rng::normal() {
  if (has_spare_) {
    has_spare_ = false;
    return spare_;
  }
  const float u = 1.0F - uniform();  // in (0, 1]: the logarithm is finite
  const float radius = std::sqrt(-2.0F * std::log(u));
  const float angle = 2.0F * std::numbers::pi_v<float> * uniform();
  spare_ = radius * std::sin(angle);
  has_spare_ = true;
  return radius * std::cos(angle);
}

Permutation::Permutation(uint64_t size, uint64_t key) : size_(size), key_(key) {
  TPACK_ASSERT(size <= uint64_t{1} << 62U, "a permutation of " + std::to_string(size));
  while ((uint64_t{1} << (2 * static_cast<unsigned>(half_bits_))) < size) ++half_bits_;
}

uint64_t Permutation::round_trip(uint64_t value) const {
  constexpr uint64_t kRounds = 8;
  const auto bits = static_cast<unsigned>(half_bits_);
  const uint64_t mask = (uint64_t{1} << bits) - 1;
  uint64_t left = value >> bits;
  uint64_t right = value & mask;
  for (uint64_t round = 0; round < kRounds; ++round) {
    const uint64_t next = left ^ (mix(key_ + round * 0xD1342543DE82EF95U, right) & mask);
    left = right;
    right = next;
  }
  return (left << bits) | right;
}

uint64_t Permutation::operator()(uint64_t i) const {
  // The network permutes at most 4 * size values; walking its cycle until back inside keeps it a bijection.
  do {
    i = round_trip(i);
  } while (i >= size_);
  return i;
}

}  // namespace tpack
