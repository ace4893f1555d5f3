#pragma once

#include <cstdint>
#include <string_view>

namespace tpack {

/// CRC-32C (Castagnoli): "123456789" gives 0xE3069283.
uint32_t crc32c(std::string_view bytes);
/// The form in which TensorFlow's record files store it.
uint32_t masked_crc32c(std::string_view bytes);

}  // namespace tpack
