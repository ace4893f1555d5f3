#include "checkpoint/seal.h"

#include <filesystem>

#include <gtest/gtest.h>

#include "core/error.h"
#include "support/temporary_folder.h"

namespace tpack {
namespace {

std::string complaint(const std::string& path) {
  try {
    check_seal(path);
  } catch (const CheckpointError& error) {
    return std::string(error.what()).substr(path.size());
  }
  return "";
}

TEST(Seal, says_in_text_what_the_file_is) {
  const std::string seal = make_seal("HDF5");
  EXPECT_EQ(seal.size(), 512U);
  EXPECT_EQ(seal.substr(0, 55), "tpack checkpoint 1\nbytes 00000000000000000516\nxxh3-128 ");
  EXPECT_EQ(seal.substr(87, 2), "\n ");
}

TEST(Seal, covers_every_byte) {
  const TemporaryFolder folder;
  const std::string path = folder / "a";
  const std::string whole = make_seal("content") + "content";
  write_content(path, whole);
  EXPECT_EQ(complaint(path), "");
  for (size_t at = 0; at < whole.size(); ++at) {
    std::string damaged = whole;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x20);  // this also turns a lowercase letter into a capital
    write_content(path, damaged);
    EXPECT_NE(complaint(path), "") << "byte " << at;
  }
}

TEST(Seal, tells_the_causes_apart) {
  const TemporaryFolder folder;
  const std::string path = folder / "a";
  const std::string whole = make_seal("content") + "content";
  EXPECT_EQ(complaint(path), ": no such file");
  EXPECT_EQ(complaint(folder.str()), ": is a folder");
  std::filesystem::create_directory(folder / "checkpoints");
  for (const char* name : {"model-9.h5", "model-10.h5"}) write_content(folder / "checkpoints/" + name, "");
  EXPECT_EQ(complaint(folder.str()),
            ": is a folder; name a checkpoint in it, such as " + (folder / "checkpoints/model-10.h5"));
  EXPECT_EQ(complaint("/dev/null"), ": is not a file");
  write_content(path, "");
  EXPECT_EQ(complaint(path), ": is truncated: it has 0 bytes, its header alone has 512");
  write_content(path, whole.substr(0, 100));
  EXPECT_EQ(complaint(path), ": is truncated: it has 100 bytes, its header alone has 512");
  write_content(path, whole.substr(0, 515));
  EXPECT_EQ(complaint(path), ": is truncated: it has 515 of 519 bytes");
  write_content(path, whole + "x");
  EXPECT_EQ(complaint(path),
            ": is damaged: it has 1 extra bytes (if it was edited on purpose: tpack ckpt sign)");
  write_content(path, make_seal("contemt") + "content");
  EXPECT_EQ(
      complaint(path),
      ": is damaged: its content does not match its digest (if it was edited on purpose: tpack ckpt sign)");
  write_content(path, "\x89HDF\r\n\x1a\n and so on");
  EXPECT_EQ(complaint(path),
            ": is an HDF5 file, not a tpack checkpoint; tpack reads checkpoints that `tpack train` "
            "wrote; `tpack ckpt import` makes one of weights of other programs");
  write_content(path, "PK\x03\x04");
  EXPECT_EQ(complaint(path),
            ": is a ZIP archive, not a tpack checkpoint; tpack reads checkpoints that `tpack train` "
            "wrote; `tpack ckpt import` makes one of weights of other programs");
  write_content(path, "\x01\x02");
  EXPECT_EQ(complaint(path), ": is not a tpack checkpoint");
  std::string newer = whole;
  newer[17] = '2';
  write_content(path, newer);
  EXPECT_EQ(complaint(path),
            ": has format version 2; this build supports versions up to 1; use a newer tpack");
}

}  // namespace
}  // namespace tpack
