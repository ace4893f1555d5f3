#include "table/unpacked_file.h"

#include "core/error.h"
#include "dataflow/flow_helpers.h"
#include "dataflow/packed_bytes.h"

namespace tpack {
namespace {

/// A text of more than one piece that does not pack well.
std::string long_text() {
  std::string text;
  uint32_t state = 1;
  for (int i = 0; i < 500'000; ++i) {
    state = state * 1664525U + 1013904223U;
    text += std::to_string(state % 100'000) + "\n";
  }
  return text;
}

class UnpackedFileTest : public testing::Test {
 protected:
  std::string unpacked(const Bytes& bytes) const {
    UnpackedFile file(folder_.write("a", bytes));
    std::string all;
    for (std::string_view piece = file.next(1 << 20); !piece.empty(); piece = file.next(1 << 20)) {
      EXPECT_LE(piece.size(), 1U << 20U);
      all += piece;
    }
    return all;
  }
  std::string failure(const Bytes& bytes) const {
    const std::string text = error_of([&] { unpacked(bytes); });
    return text.starts_with(folder_.path("a: ")) ? text.substr(folder_.path("a: ").size()) : text;
  }

  TempFolder folder_;
};

Bytes joined(Bytes first, const Bytes& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}
Bytes cut(const Bytes& bytes, size_t size) {
  return {bytes.begin(), bytes.begin() + static_cast<int64_t>(size)};
}

TEST_F(UnpackedFileTest, gives_what_was_packed) {
  const std::string text = long_text();
  EXPECT_EQ(unpacked(gzip_file(text)), text);
  EXPECT_EQ(unpacked(zstandard_file(text)), text);
  EXPECT_EQ(unpacked({text.begin(), text.end()}), text);
  EXPECT_EQ(unpacked(gzip_file("")), "");
  EXPECT_EQ(unpacked(zstandard_file("")), "");
  EXPECT_EQ(unpacked({}), "");
}

TEST_F(UnpackedFileTest, joins_members_and_frames) {
  EXPECT_EQ(unpacked(joined(gzip_file("a,b\n"), gzip_file("1,2\n"))), "a,b\n1,2\n");
  EXPECT_EQ(unpacked(joined(gzip_file("a,b\n"), Bytes(512, 0))), "a,b\n");
  EXPECT_EQ(unpacked(joined(zstandard_file("a,b\n"), zstandard_file("1,2\n"))), "a,b\n1,2\n");
}

TEST_F(UnpackedFileTest, says_what_is_wrong_with_every_cut) {
  for (const Bytes& packed : {gzip_file("a,b\n1,2\n3,4\n"), zstandard_file("a,b\n1,2\n3,4\n")}) {
    for (size_t size = 4; size < packed.size(); ++size)
      EXPECT_THAT(failure(cut(packed, size)), testing::HasSubstr("is cut off")) << size;
  }
  const std::string text = long_text();
  EXPECT_EQ(failure(cut(gzip_file(text), 500'000)), "is cut off: its gzip data end early");
  EXPECT_EQ(failure(cut(zstandard_file(text), 500'000)), "is cut off: its Zstandard data end early");
}

TEST_F(UnpackedFileTest, says_that_bytes_are_damaged) {
  Bytes gzip = gzip_file("some text");
  gzip[gzip.size() - 6] ^= 1;  // of its checksum
  EXPECT_EQ(failure(gzip), "is damaged: incorrect data check");
  Bytes zstandard = zstandard_file("some text");
  zstandard.back() ^= 1;
  EXPECT_THAT(failure(zstandard), testing::StartsWith("is damaged: "));
  EXPECT_EQ(failure(joined(gzip_file("a"), {'x'})), "is damaged: extra bytes follow its gzip data");
  EXPECT_THAT(failure(joined(zstandard_file("a"), {'x', 'y', 'z', '1', '2'})),
              testing::StartsWith("is damaged: "));
}

TEST_F(UnpackedFileTest, ends_or_throws_for_any_changed_byte) {
  for (const Bytes& packed : {gzip_file("a,b\n1,2\n1,2\n1,2\n"), zstandard_file("a,b\n1,2\n1,2\n1,2\n")}) {
    size_t refused = 0;
    for (size_t at = 4; at < packed.size(); ++at) {
      Bytes changed = packed;
      changed[at] ^= 0x55;
      refused += failure(changed) == "no error" ? 0 : 1;
    }
    EXPECT_GE(refused, packed.size() - 12) << "all but the date and the system in gzip's header";
  }
}

}  // namespace
}  // namespace tpack
