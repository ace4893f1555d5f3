#include "system/anonymous_file.h"

#include <filesystem>

#include <gtest/gtest.h>

#include "support/temporary_folder.h"

namespace tpack {
namespace {

TEST(AnonymousFile, has_its_content_by_path_as_long_as_it_lives) {
  std::string path;
  {
    const AnonymousFile file(std::string("a\0b\n", 4));
    path = file.path();
    EXPECT_EQ(content_of(path), std::string("a\0b\n", 4));
    const AnonymousFile other("x");
    EXPECT_NE(other.path(), path);
    EXPECT_EQ(content_of(path).size(), 4U);
    AnonymousFile again({"long", " ", "content"});
    EXPECT_EQ(content_of(again.path()), "long content");
    again.assign({"short"});
    EXPECT_EQ(content_of(again.path()), "short");
  }
  EXPECT_FALSE(std::filesystem::exists(path));
}

}  // namespace
}  // namespace tpack
