#include "dataflow/format/mapped_file.h"

#include "core/error.h"
#include "dataflow/flow_helpers.h"

namespace tpack {
namespace {

TEST(MappedFile, has_the_bytes_of_the_file) {
  const TempFolder folder;
  const MappedFile file(folder.write("a", {1, 2, 255}));
  EXPECT_EQ((std::vector<uint8_t>{file.bytes().begin(), file.bytes().end()}),
            (std::vector<uint8_t>{1, 2, 255}));
  EXPECT_TRUE(MappedFile(folder.write("empty", {})).bytes().empty());
}

TEST(MappedFile, says_why_it_cannot_be_read) {
  const TempFolder folder;
  EXPECT_EQ(error_of([&] { const MappedFile file(folder.path("none")); }),
            folder.path("none") + ": cannot be read: No such file or directory");
  EXPECT_EQ(error_of([&] { const MappedFile file(folder.path()); }),
            folder.path() + ": cannot be read: Is a directory");
}

}  // namespace
}  // namespace tpack
