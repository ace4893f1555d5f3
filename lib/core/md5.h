#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace tpack {

/// The MD5 digest of bytes that come piece by piece. For comparisons with published digests; it does not
/// protect against attacks. Source: RFC 1321.
class Md5 {
 public:
  void add(std::string_view bytes);
  /// 32 hexadecimal digits, in lower case. Call once, at the end.
  std::string text();

 private:
  void add_block(const uint8_t* block);

  std::array<uint32_t, 4> state_ = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476};
  std::array<uint8_t, 64> open_{};  // an incomplete block
  uint64_t size_ = 0;
};

}  // namespace tpack
