#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string_view>

namespace tpack {

/// A chunk of a RIFF file, such as WebP: four letters, the length, and content of an even length.
struct RiffChunk {
  std::span<const uint8_t> whole;
  std::span<const uint8_t> content;

  bool is(std::string_view name) const { return std::memcmp(whole.data(), name.data(), 4) == 0; }
};

/// Removes the first chunk from `list` and returns it; nothing if there is none or it is incomplete.
inline std::optional<RiffChunk> next_riff_chunk(std::span<const uint8_t>& list) {
  constexpr size_t kHead = 8;
  if (list.size() < kHead) return std::nullopt;
  const size_t length = list[4] | static_cast<size_t>(list[5]) << 8U | static_cast<size_t>(list[6]) << 16U |
                        static_cast<size_t>(list[7]) << 24U;
  if (length > list.size() - kHead) return std::nullopt;
  const RiffChunk chunk{list.first(kHead + length), list.subspan(kHead, length)};
  list = list.subspan(kHead + length);
  if (length % 2 == 1 && !list.empty()) list = list.subspan(1);
  return chunk;
}

}  // namespace tpack
