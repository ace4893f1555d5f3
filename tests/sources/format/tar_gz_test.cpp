#include "sources/format/tar_gz.h"

#include "dataflow/flow_helpers.h"
#include "dataflow/packed_bytes.h"
#include "dataflow/tar_writer.h"

namespace tpack {
namespace {

using Files = std::map<std::string, Bytes>;

Files read_all(const std::string& path, size_t most = 1'000'000) {
  return read_tar_gz(
      path, [](std::string_view name) { return name != "other"; }, most);
}

TEST(TarGz, has_the_wanted_files) {
  const TempFolder folder;
  const std::string big(1500, 'x');
  const std::string tar = tar_archive({{"d/a", "1"}, {"d/other", "2"}, {"b", big}, {"d/empty", ""}});
  const Files expected = {{"a", {'1'}}, {"b", Bytes(1500, 'x')}, {"empty", {}}};
  EXPECT_EQ(read_all(folder.write_text("a.tar", tar)), expected);
  EXPECT_EQ(read_all(folder.write("a.tar.gz", gzip_file(tar))), expected);
  EXPECT_EQ(read_all(folder.write_text("short.tar", tar.substr(0, tar.size() - 1024))), expected)
      << "without its last blocks";
}

/// GNU tar writes the same.
TEST(TarGz, of_the_program_tar_is_read) {
  const TempFolder folder;
  folder.write_text("d/a", "hello");
  ASSERT_EQ(std::system(("tar czf '" + folder.path("a.tgz") + "' -C '" + folder.path() + "' d").c_str()), 0);
  EXPECT_EQ(read_all(folder.path("a.tgz")), (Files{{"a", {'h', 'e', 'l', 'l', 'o'}}}));
}

TEST(TarGz, names_what_is_wrong) {
  const TempFolder folder;
  const auto error = [&](const std::string& tar) {
    return error_of([&] { read_all(folder.write_text("a.tar", tar)); });
  };
  std::string tar = tar_archive({{"a", std::string(100, 'x')}});
  const std::string path = folder.path("a.tar") + ": ";
  EXPECT_EQ(error(tar.substr(0, 600)), path + "at byte 0: the archive ends within 'a'; copy it again");
  EXPECT_EQ(error(tar.substr(0, 300)), path + "at byte 0: the archive ends within a header; copy it again");
  EXPECT_EQ(error(""), path + "at byte 0: the archive ends within a header; copy it again");
  EXPECT_EQ(error(std::string(512, 'x')), path + "at byte 0: is not a tar archive");
  tar[0] = 'b';
  EXPECT_EQ(error(tar), path + "at byte 0: is not a tar archive");
  EXPECT_EQ(error(tar_archive({{"a/x", ""}, {"b/x", ""}})), path + "has two files 'x'");
  const std::string large = folder.write_text("a.tar", tar_archive({{"a", std::string(100, 'x')}}));
  EXPECT_TRUE(fails([&] { read_all(large, 99); }, {path, "'a' of 100 bytes"}));
}

}  // namespace
}  // namespace tpack
