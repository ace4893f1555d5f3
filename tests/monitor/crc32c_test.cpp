#include "monitor/crc32c.h"

#include <string>

#include <gtest/gtest.h>

namespace tpack {
namespace {

// Check values: the CRC catalogue for "123456789"; RFC 3720 B.4 for the others.
TEST(Crc32c, gives_the_published_values) {
  EXPECT_EQ(crc32c("123456789"), 0xE3069283U);
  EXPECT_EQ(crc32c(std::string(32, '\0')), 0x8A9136AAU);
  EXPECT_EQ(crc32c(std::string(32, '\xff')), 0x62A8AB43U);
  EXPECT_EQ(crc32c(""), 0U);
}

TEST(Crc32c, is_masked_by_a_rotation_and_an_offset) {
  EXPECT_EQ(masked_crc32c(""), 0xA282EAD8U);
  EXPECT_EQ(masked_crc32c("123456789"),
            0xC78AB0E5U);  // rotated right by 15, plus the offset
}

}  // namespace
}  // namespace tpack
