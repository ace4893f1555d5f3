#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace tpack {

/// A TIFF of gray pixels.
struct GrayTiff {
  size_t width = 2;
  size_t height = 1;
  size_t bits = 8;
  size_t format = 1;  // 1: unsigned, 2: signed, 3: floating-point
};

/// One whose pages have these bytes, of little endian.
inline std::string encode_tiff(const GrayTiff& of, const std::vector<std::string>& pages) {
  std::string out("II*\0\x8\0\0\0", 8);
  for (size_t i = 0; i < pages.size(); ++i) {
    const size_t at = out.size();
    constexpr size_t kFields = 9;
    const size_t length = 2 + kFields * 12 + 4 + pages[i].size();
    const auto number = [&](size_t value, int bytes) {
      for (int k = 0; k < bytes; ++k) out.push_back(static_cast<char>(value >> static_cast<unsigned>(8 * k)));
    };
    number(kFields, 2);
    const std::array<std::array<size_t, 2>, kFields> fields = {{{256, of.width},
                                                                {257, of.height},
                                                                {258, of.bits},
                                                                {259, 1},
                                                                {262, 1},
                                                                {273, at + length - pages[i].size()},
                                                                {277, 1},
                                                                {279, pages[i].size()},
                                                                {339, of.format}}};
    for (const auto& [tag, value] : fields) {
      number(tag, 2);
      number(4, 2);
      number(1, 4);
      number(value, 4);
    }
    number(i + 1 < pages.size() ? at + length : 0, 4);
    out += pages[i];
  }
  return out;
}

}  // namespace tpack
