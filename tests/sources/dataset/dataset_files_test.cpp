#include "sources/dataset/dataset_files.h"

#include "dataflow/flow_helpers.h"

namespace tpack {
namespace {

TEST(DatasetFiles, finds_files_in_the_folder_or_below_it) {
  const TempFolder folder;
  folder.write("toys/a.gz", {1});
  folder.write("toys/b", {1});
  const auto below = DatasetFiles("toys", {folder.path(), {}}, "a shop").find({"a", "b"});
  EXPECT_EQ(below, (Texts{folder.path("toys/a.gz"), folder.path("toys/b")}));
  EXPECT_EQ(DatasetFiles("toys", {folder.path("toys"), {}}, "a shop").find({"a", "b"}), below);
}

TEST(DatasetFiles, finds_files_under_the_names_that_programs_give_them) {
  const TempFolder folder;
  folder.write("a.idx3-ubyte", {1});
  folder.write("b.idx1-ubyte.gz", {1});
  folder.write("c-idx1-ubyte/c.idx1-ubyte", {1});
  const auto found = DatasetFiles("toys", {folder.path(), {}}, "a shop")
                         .find({"a-idx3-ubyte", "b-idx1-ubyte", "c-idx1-ubyte"});
  EXPECT_EQ(found, (Texts{folder.path("a.idx3-ubyte"), folder.path("b.idx1-ubyte.gz"),
                          folder.path("c-idx1-ubyte/c.idx1-ubyte")}));
}

TEST(DatasetFiles, says_what_is_missing_where_and_where_it_comes_from) {
  const TempFolder folder;
  folder.write("toys/a", {1});
  EXPECT_TRUE(fails(
      [&] {
        DatasetFiles("toys", {folder.path(), {}}, "a shop").find({"a", "b"});
      },
      {"dataset toys: b[.gz] not found", folder.path("toys") + ", " + folder.path(), "a shop"}));
}

TEST(DatasetFiles, a_folder_that_the_config_names_must_be_there) {
  EXPECT_TRUE(fails(
      [] {
        DatasetFiles("toys", {"/no/such/folder", {}}, "a shop").find({"a"});
      },
      {"dataset toys: ", "'/no/such/folder'"}));
}

}  // namespace
}  // namespace tpack
