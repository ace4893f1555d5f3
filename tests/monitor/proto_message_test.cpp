#include "monitor/proto_message.h"

#include <gtest/gtest.h>

namespace tpack {
namespace {

using std::string_literals::operator""s;

// Examples of the encoding guide of protocol buffers.
TEST(ProtoMessage, encodes_the_examples_of_the_guide) {
  EXPECT_EQ(ProtoMessage().integer(1, 150).encoded(), "\x08\x96\x01");
  EXPECT_EQ(ProtoMessage().bytes(2, "testing").encoded(), "\x12\x07testing");
  EXPECT_EQ(ProtoMessage().message(3, ProtoMessage().integer(1, 150)).encoded(), "\x1a\x03\x08\x96\x01");
}

TEST(ProtoMessage, writes_negative_numbers_in_ten_bytes) {
  EXPECT_EQ(ProtoMessage().integer(1, -1).encoded(), "\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01");
}

TEST(ProtoMessage, writes_floats_little_endian) {
  EXPECT_EQ(ProtoMessage().real32(2, 1.0F).encoded(), "\x15\x00\x00\x80\x3f"s);
  EXPECT_EQ(ProtoMessage().real64(1, 1.0).encoded(), "\x09\x00\x00\x00\x00\x00\x00\xf0\x3f"s);
}

TEST(ProtoMessage, puts_large_field_numbers_into_two_bytes) {
  EXPECT_EQ(ProtoMessage().integer(16, 1).encoded(), "\x80\x01\x01");
}

}  // namespace
}  // namespace tpack
