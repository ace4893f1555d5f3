#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace tpack {

/// A gzip file with one member, as libdeflate writes it.
std::vector<uint8_t> gzip_file(std::string_view content);
/// A Zstandard file with one frame and a checksum.
std::vector<uint8_t> zstandard_file(std::string_view content);

}  // namespace tpack
