#include "core/md5.h"

#include <initializer_list>

#include <gtest/gtest.h>

namespace tpack {
namespace {

std::string md5_of(std::string_view text, size_t piece = 1000) {
  Md5 digest;
  for (size_t at = 0; at < text.size(); at += piece) digest.add(text.substr(at, piece));
  return digest.text();
}

/// The test suite of RFC 1321.
TEST(Md5, has_the_published_digests) {
  EXPECT_EQ(md5_of(""), "d41d8cd98f00b204e9800998ecf8427e");
  EXPECT_EQ(md5_of("a"), "0cc175b9c0f1b6a831c399e269772661");
  EXPECT_EQ(md5_of("abc"), "900150983cd24fb0d6963f7d28e17f72");
  EXPECT_EQ(md5_of("message digest"), "f96b697d7cb7938d525a2f31aaf161d0");
  EXPECT_EQ(md5_of("abcdefghijklmnopqrstuvwxyz"), "c3fcd3d76192e4007dfb496cca67e13b");
  EXPECT_EQ(md5_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"),
            "d174ab98d277d9f5a5611c2c9f419d9f");
  EXPECT_EQ(md5_of("12345678901234567890123456789012345678901234567890123456789012345678901234567890"),
            "57edf4a22be3c955ac49da2e2107b67a");
}

TEST(Md5, does_not_depend_on_the_pieces) {
  const std::string text(1000, 'x');
  for (const size_t piece : std::initializer_list<size_t>{1, 7, 55, 56, 57, 63, 64, 65, 128})
    EXPECT_EQ(md5_of(text, piece), md5_of(text));
}

}  // namespace
}  // namespace tpack
