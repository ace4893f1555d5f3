#include "sources/name_list.h"

#include "dataflow/flow_helpers.h"

namespace tpack {
namespace {

TEST(NameList, chooses_the_files_that_it_names) {
  const TempFolder folder;
  folder.write_text("names.txt", "a\r\nb.png 1\n\nc.d\n");
  NameList names({folder.path("names.txt"), {}});
  EXPECT_FALSE(names.is_everything());
  EXPECT_TRUE(names.take("a.jpg"));
  EXPECT_TRUE(names.take("b.png"));
  EXPECT_FALSE(names.take("b.jpg"));
  EXPECT_FALSE(names.take("d.jpg"));
  EXPECT_TRUE(fails([&] { names.check_taken("the folder"); },
                    {folder.path("names.txt") + ": has c.d (1 of 3 names), which the folder has not"}));
  EXPECT_TRUE(names.take("c.d.jpg"));
  names.check_taken("the folder");
}

TEST(NameList, without_a_file_chooses_everything) {
  NameList names;
  EXPECT_TRUE(names.is_everything());
  EXPECT_TRUE(names.take("a.jpg"));
  names.check_taken("the folder");
}

TEST(NameList, names_what_is_wrong) {
  const TempFolder folder;
  const auto read = [&](const std::string& text) {
    return error_of([&] { NameList({folder.write_text("names.txt", text), {}}); });
  };
  EXPECT_TRUE(says(read("a\nb\na\n"), {"names.txt: has 'a' twice"}));
  EXPECT_TRUE(says(read("\n"), {"names.txt: has no names"}));
  EXPECT_TRUE(fails([&] { NameList({folder.path("absent.txt"), {}}); }, {"absent.txt"}));
}

}  // namespace
}  // namespace tpack
