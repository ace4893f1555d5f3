#include "records/format/tf_record.h"

#include <cstring>
#include <isa-l/crc.h>

#include "core/error.h"

namespace tpack {
namespace {

/// The checksum of TFRecord files: CRC32C, turned, plus a constant.
uint32_t masked_crc(const uint8_t* bytes, size_t size) {
  constexpr uint32_t kAdded = 0xa282ead8;
  uint32_t crc = 0xffffffff;
  while (size > 0) {  // the function counts in int
    const size_t part = std::min(size, size_t{1} << 30U);
    crc = crc32_iscsi(const_cast<uint8_t*>(bytes), static_cast<int>(part), crc);  // reads only
    bytes += part;
    size -= part;
  }
  crc = ~crc;
  return ((crc >> 15U) | (crc << 17U)) + kAdded;
}

uint32_t number_at(const uint8_t* bytes) {
  uint32_t value = 0;
  std::memcpy(&value, bytes, sizeof value);
  return value;
}

}  // namespace

uint64_t tf_record_length(std::span<const uint8_t, kTfRecordHeader> header) {
  uint64_t length = 0;
  std::memcpy(&length, header.data(), sizeof length);
  if (number_at(header.data() + sizeof length) != masked_crc(header.data(), sizeof length))
    throw DataError("the checksum of a record's length is wrong");
  return length;
}

bool is_tf_record_whole(std::span<const uint8_t> bytes, std::span<const uint8_t, kTfRecordFooter> footer) {
  return number_at(footer.data()) == masked_crc(bytes.data(), bytes.size());
}

TfRecordFrame tf_record_frame(std::string_view bytes) {
  TfRecordFrame frame{};
  const uint64_t length = bytes.size();
  std::memcpy(frame.header.data(), &length, sizeof length);
  const uint32_t of_length = masked_crc(frame.header.data(), sizeof length);
  std::memcpy(frame.header.data() + sizeof length, &of_length, sizeof of_length);
  const uint32_t of_bytes = masked_crc(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
  std::memcpy(frame.footer.data(), &of_bytes, sizeof of_bytes);
  return frame;
}

}  // namespace tpack
