#include "system/mapped_file.h"

#include <gmock/gmock-matchers.h>

#include "core/error.h"
#include "support/temporary_folder.h"

namespace tpack {
namespace {

TEST(MappedFile, has_the_bytes_of_the_file) {
  const TemporaryFolder folder;
  write_content(folder / "a", "\x01\x02\xff");
  const MappedFile file(folder / "a");
  EXPECT_EQ((std::vector<uint8_t>{file.bytes().begin(), file.bytes().end()}),
            (std::vector<uint8_t>{1, 2, 255}));
  write_content(folder / "empty", "");
  EXPECT_TRUE(MappedFile(folder / "empty").bytes().empty());
}

TEST(MappedFile, says_why_it_cannot_be_read) {
  const TemporaryFolder folder;
  const auto read = [](const std::string& path) { return [path] { const MappedFile file(path); }; };
  EXPECT_THAT(read(folder / "none"), testing::ThrowsMessage<DataError>(
                                         (folder / "none") + ": cannot be read: No such file or directory"));
  EXPECT_THAT(read(folder.str()),
              testing::ThrowsMessage<DataError>(folder.str() + ": cannot be read: Is a directory"));
}

}  // namespace
}  // namespace tpack
