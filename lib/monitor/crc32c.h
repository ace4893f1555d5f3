#pragma once

#include <cstdint>
#include <string_view>

namespace tpack {

/// CRC-32C (Castagnoli): 0xE3069283 for "123456789".
uint32_t crc32c(std::string_view bytes);
/// The masked form in TensorFlow's record files.
uint32_t masked_crc32c(std::string_view bytes);

}  // namespace tpack
