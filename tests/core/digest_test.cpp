#include "core/digest.h"

#include <gtest/gtest.h>

namespace tpack {
namespace {

TEST(Digest, is_the_published_hash) {
  // XXH3_128bits of the empty input, from the test vectors of xxHash.
  EXPECT_EQ(digest_of(""), "99aa06d3014798d86001c324468d497f");
}

TEST(Digest, does_not_depend_on_how_the_bytes_are_cut) {
  const std::string bytes(1000, 'x');
  Digest digest;
  EXPECT_EQ(digest.text(), digest_of(""));
  for (size_t at = 0; at < bytes.size(); at += 300) digest.add(std::string_view(bytes).substr(at, 300));
  EXPECT_EQ(digest.text(), digest_of(bytes));
  digest.add("y");
  EXPECT_NE(digest.text(), digest_of(bytes));
}

TEST(Digest, words_are_its_halves) {
  EXPECT_EQ(Digest().words(), (std::array<uint64_t, 2>{0x99aa06d3014798d8, 0x6001c324468d497f}));
}

}  // namespace
}  // namespace tpack
