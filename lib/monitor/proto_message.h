#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace tpack {

/// Builds one message of the protocol-buffer wire format, field by field.
class ProtoMessage {
 public:
  ProtoMessage& integer(int field, int64_t value);
  ProtoMessage& real32(int field, float value);
  ProtoMessage& real64(int field, double value);
  ProtoMessage& bytes(int field, std::string_view value);
  ProtoMessage& message(int field, const ProtoMessage& value) { return bytes(field, value.encoded()); }
  const std::string& encoded() const { return out_; }

 private:
  void key(int field, uint32_t wire_type);
  void varint(uint64_t value);

  std::string out_;
};

/// Appends an integer as little-endian bytes.
template <class T>
void append_little_endian(std::string& out, T value) {
  for (size_t i = 0; i < sizeof(T); ++i) out += static_cast<char>((value >> (8 * i)) & 0xFF);
}

}  // namespace tpack
