#pragma once

#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tpack {

/// CRC-32C bit by bit, independent of the table in the code under test.
inline uint32_t slow_crc32c(std::string_view bytes) {
  uint32_t crc = 0xFFFFFFFF;
  for (const char c : bytes) {
    crc ^= static_cast<unsigned char>(c);
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1U) ^ ((crc & 1U) != 0 ? 0x82F63B78U : 0U);
  }
  return ~crc;
}

template <class T>
T fixed(std::string_view bytes) {
  T value{};
  std::memcpy(&value, bytes.data(), sizeof value);
  return value;
}

/// The messages of an event file. Throws std::runtime_error if a length or CRC is wrong.
inline std::vector<std::string> read_records(std::string_view file) {
  const auto unmasked = [](uint32_t masked) {
    const uint32_t rotated = masked - 0xA282EAD8U;
    return (rotated >> 17U) | (rotated << 15U);
  };
  std::vector<std::string> records;
  while (!file.empty()) {
    if (file.size() < 16) throw std::runtime_error("torn record");
    const auto length = fixed<uint64_t>(file);
    if (unmasked(fixed<uint32_t>(file.substr(8))) != slow_crc32c(file.substr(0, 8)))
      throw std::runtime_error("length");
    if (file.size() < length + 16) throw std::runtime_error("torn record");
    records.emplace_back(file.substr(12, length));
    if (unmasked(fixed<uint32_t>(file.substr(12 + length))) != slow_crc32c(records.back())) {
      throw std::runtime_error("data");
    }
    file.remove_prefix(length + 16);
  }
  return records;
}

/// A field of a message: its number and its bytes (of a varint: the value as 8 bytes).
using Field = std::pair<int, std::string>;

inline uint64_t take_varint(std::string_view& bytes) {
  uint64_t value = 0;
  for (unsigned shift = 0;; shift += 7) {
    const auto byte = static_cast<unsigned char>(bytes.at(0));
    bytes.remove_prefix(1);
    value |= static_cast<uint64_t>(byte & 0x7FU) << shift;
    if (byte < 0x80) return value;
  }
}

inline std::vector<Field> read_fields(std::string_view message) {
  std::vector<Field> fields;
  while (!message.empty()) {
    const uint64_t key = take_varint(message);
    std::string value;
    if ((key & 7U) == 0) {
      const uint64_t number = take_varint(message);
      value.assign(reinterpret_cast<const char*>(&number), sizeof number);
    } else {
      const size_t size = (key & 7U) == 1 ? 8 : (key & 7U) == 5 ? 4 : take_varint(message);
      value = message.substr(0, size);
      message.remove_prefix(size);
    }
    fields.emplace_back(static_cast<int>(key >> 3U), value);
  }
  return fields;
}

/// The bytes of the first field of that number; throws if there is none.
inline std::string field(std::string_view message, int number) {
  for (const Field& candidate : read_fields(message)) {
    if (candidate.first == number) return candidate.second;
  }
  throw std::runtime_error("no field " + std::to_string(number));
}

}  // namespace tpack
