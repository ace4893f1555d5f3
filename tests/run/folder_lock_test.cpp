#include "run/folder_lock.h"

#include <gtest/gtest.h>

#include "core/error.h"
#include "support/errors.h"
#include "support/temporary_folder.h"

namespace tpack {
namespace {

TEST(FolderLock, is_held_by_one_as_long_as_it_lives) {
  const TemporaryFolder folder;
  {
    const FolderLock lock(folder.str(), "another process works");
    EXPECT_EQ(
        error_from<ResourceError>([&] { const FolderLock second(folder.str(), "another process works"); }),
        folder.str() + ": another process works in this folder; use another --log-dir");
  }
  EXPECT_NO_THROW(FolderLock(folder.str(), "another process works"));
}

TEST(FolderLock, needs_a_folder) {
  const TemporaryFolder folder;
  EXPECT_THROW(FolderLock(folder / "none", "another process works"), ResourceError);
}

}  // namespace
}  // namespace tpack
