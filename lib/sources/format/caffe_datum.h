#pragma once

#include <cstdint>
#include <span>

namespace tpack {

/// A record of Caffe's databases (its message Datum): an array [channels, height, width] or an encoded image,
/// and a label.
struct CaffeDatum {
  enum class Kind : uint8_t { kBytes, kFloats, kEncoded };

  Kind kind = Kind::kBytes;
  int64_t channels = 0;  // of arrays; encoded images have their own header
  int64_t height = 0;
  int64_t width = 0;
  int32_t label = 0;
  std::span<const uint8_t> bytes;  // the array (kBytes), or the image file (kEncoded)
  std::span<const float> floats;   // the array (kFloats)
};

/// Reads a record. Its pointers are valid until the thread's next call. Errors: DataError if the record is
/// damaged, has no data, or its data do not match its sizes.
CaffeDatum read_caffe_datum(std::span<const uint8_t> record);

}  // namespace tpack
