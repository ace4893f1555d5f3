#include "monitor/proto_message.h"

#include <bit>

namespace tpack {
namespace {

constexpr uint32_t kVarint = 0;
constexpr uint32_t kFixed64 = 1;
constexpr uint32_t kLengthDelimited = 2;
constexpr uint32_t kFixed32 = 5;

}  // namespace

void ProtoMessage::varint(uint64_t value) {
  for (; value >= 0x80; value >>= 7U) out_ += static_cast<char>((value & 0x7FU) | 0x80U);
  out_ += static_cast<char>(value);
}

void ProtoMessage::key(int field, uint32_t wire_type) {
  varint((static_cast<uint64_t>(static_cast<uint32_t>(field)) << 3U) | wire_type);
}

ProtoMessage& ProtoMessage::integer(int field, int64_t value) {
  key(field, kVarint);
  varint(static_cast<uint64_t>(value));
  return *this;
}

ProtoMessage& ProtoMessage::real32(int field, float value) {
  key(field, kFixed32);
  append_little_endian(out_, std::bit_cast<uint32_t>(value));
  return *this;
}

ProtoMessage& ProtoMessage::real64(int field, double value) {
  key(field, kFixed64);
  append_little_endian(out_, std::bit_cast<uint64_t>(value));
  return *this;
}

ProtoMessage& ProtoMessage::bytes(int field, std::string_view value) {
  key(field, kLengthDelimited);
  varint(value.size());
  out_ += value;
  return *this;
}

}  // namespace tpack
