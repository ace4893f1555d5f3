#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

namespace tpack {

// A TFRecord file: records of a length (8 bytes), the masked CRC32C of the length, the bytes, and their
// masked CRC32C; all little-endian. Source: TensorFlow, core/lib/io/record_writer.h.

constexpr uint64_t kTfRecordHeader = 12;
constexpr uint64_t kTfRecordFooter = 4;

/// The length of a record, from its header. Errors: DataError if its checksum is wrong.
uint64_t tf_record_length(std::span<const uint8_t, kTfRecordHeader> header);
/// Whether the checksum after a record's bytes is right.
bool is_tf_record_whole(std::span<const uint8_t> bytes, std::span<const uint8_t, kTfRecordFooter> footer);

/// What is written before and after the bytes of a record.
struct TfRecordFrame {
  std::array<uint8_t, kTfRecordHeader> header;
  std::array<uint8_t, kTfRecordFooter> footer;
};
TfRecordFrame tf_record_frame(std::string_view bytes);

}  // namespace tpack
