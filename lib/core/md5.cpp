#include "core/md5.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>

namespace tpack {
namespace {

constexpr size_t kMd5Block = 64;
constexpr std::array<std::array<int, 4>, 4> kMd5Shifts = {
    {{7, 12, 17, 22}, {5, 9, 14, 20}, {4, 11, 16, 23}, {6, 10, 15, 21}}};

/// floor(2^32 |sin(i + 1)|).
const std::array<uint32_t, kMd5Block>& md5_sines() {
  static const std::array<uint32_t, kMd5Block> kSines = [] {
    std::array<uint32_t, kMd5Block> all{};
    for (size_t i = 0; i < all.size(); ++i)
      all.at(i) =
          static_cast<uint32_t>(std::floor(std::ldexp(std::abs(std::sin(static_cast<double>(i + 1))), 32)));
    return all;
  }();
  return kSines;
}

struct Md5Step {
  uint32_t mixed;
  size_t word;
};

Md5Step md5_step(size_t i, uint32_t b, uint32_t c, uint32_t d) {
  if (i < 16) return {(b & c) | (~b & d), i};
  if (i < 32) return {(d & b) | (~d & c), (5 * i + 1) % 16};
  if (i < 48) return {b ^ c ^ d, (3 * i + 5) % 16};
  return {c ^ (b | ~d), 7 * i % 16};
}

}  // namespace

void Md5::add_block(const uint8_t* block) {
  std::array<uint32_t, 16> words{};
  for (size_t i = 0; i < kMd5Block; ++i) words.at(i / 4) |= uint32_t{block[i]} << (8 * (i % 4));
  auto [a, b, c, d] = state_;
  for (size_t i = 0; i < kMd5Block; ++i) {
    const auto [mixed, word] = md5_step(i, b, c, d);
    const uint32_t sum = a + mixed + md5_sines().at(i) + words.at(word);
    a = d;
    d = c;
    c = b;
    b += std::rotl(sum, kMd5Shifts.at(i / 16).at(i % 4));
  }
  state_ = {state_[0] + a, state_[1] + b, state_[2] + c, state_[3] + d};
}

void Md5::add(std::string_view bytes) {
  while (!bytes.empty()) {
    const size_t begin = size_ % kMd5Block;
    const size_t count = std::min(bytes.size(), kMd5Block - begin);
    std::copy_n(bytes.begin(), count, open_.begin() + static_cast<std::ptrdiff_t>(begin));
    size_ += count;
    bytes.remove_prefix(count);
    if (size_ % kMd5Block == 0) add_block(open_.data());
  }
}

std::string Md5::text() {
  const uint64_t bits = 8 * size_;
  add("\x80");
  while (size_ % kMd5Block != kMd5Block - 8) add(std::string_view("\0", 1));
  for (size_t i = 0; i < 8; ++i) {
    const auto byte = static_cast<char>(bits >> (8 * i));
    add({&byte, 1});
  }
  std::string out;
  for (const uint32_t word : state_) {
    for (size_t i = 0; i < 4; ++i) {
      constexpr std::string_view kDigits = "0123456789abcdef";
      const uint32_t byte = word >> (8 * i) & 255U;
      out += {kDigits[byte / 16], kDigits[byte % 16]};
    }
  }
  return out;
}

}  // namespace tpack
