
#include <algorithm>
#include <cstring>

#include "dataflow/flow_helpers.h"
#include "records/test_records.h"
#include "support/python.h"
#include "system/file_io.h"

namespace tpack {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

ReadAt reader_of(const std::string& archive) {
  return [&archive](uint64_t offset, void* to, size_t size) -> size_t {
    if (offset >= archive.size()) return 0;
    const size_t there = std::min<size_t>(size, archive.size() - offset);
    std::memcpy(to, archive.data() + offset, there);
    return there;
  };
}

/// "NAME=CONTENT" of each file.
Texts files_in(const std::string& archive) {
  TarWalk walk(reader_of(archive), "a.tar");
  Texts all;
  while (const auto file = walk.next())
    all.push_back(file->name + "=" + archive.substr(file->data, file->size));
  return all;
}

TEST(Tar, reads_what_it_writes) {
  const std::string long_name = std::string(150, 'd') + "/" + std::string(130, 'n') + ".jpg";
  const std::string archive = tar_file("a.jpg", "pixels") + tar_file(long_name, std::string(512, 'x')) +
                              tar_file("empty.txt", "") + std::string(1024, '\0');
  EXPECT_EQ(archive.size() % 512, 0U);
  EXPECT_EQ(files_in(archive),
            (Texts{"a.jpg=pixels", long_name + "=" + std::string(512, 'x'), "empty.txt="}));
}

TEST(Tar, needs_no_blocks_at_the_end) {
  EXPECT_EQ(files_in(tar_file("a", "1") + tar_file("b", "2")), (Texts{"a=1", "b=2"}));
}

TEST(Tar, keeps_sizes_above_8_gb) {
  constexpr uint64_t kSize = (uint64_t{1} << 33U) + 5;
  const std::string header = tar_header("big", kSize);
  const ReadAt read = [&](uint64_t offset, void* to, size_t size) -> size_t {
    std::memset(to, 'x', size);
    if (offset < header.size())
      std::memcpy(to, header.data() + offset, std::min<size_t>(size, header.size() - offset));
    return offset + size <= header.size() + kSize ? size : 0;
  };
  TarWalk walk(read, "a.tar");
  const auto big = walk.next();
  ASSERT_TRUE(big.has_value());
  EXPECT_EQ(big->size, kSize);
  EXPECT_EQ(big->data, header.size());
}

TEST(Tar, reports_damage_where_it_is) {
  const std::string archive = tar_file("a", "1") + tar_file("b", "22");
  std::string damaged = archive;
  damaged[1024 + 3] = 'x';  // in the name of b
  EXPECT_THAT([&] { files_in(damaged); },
              ThrowsMessage<DataError>(HasSubstr("a.tar: at byte 1,024: a damaged header")));
  EXPECT_THAT([] { files_in(std::string(600, 'x')); },
              ThrowsMessage<DataError>(HasSubstr("is not a tar archive")));
  EXPECT_THAT([&] { files_in(archive.substr(0, 1024 + 512)); },
              ThrowsMessage<DataError>(HasSubstr("the archive ends within 'b'")));
}

/// A prefix of an archive gives the files before its end, and then an error, or the end.
TEST(Tar, never_gives_a_file_that_is_cut) {
  const std::string archive = tar_file("a", "1") + tar_file(std::string(120, 'n'), "22");
  const Texts whole = files_in(archive);
  for (size_t size = 1; size < archive.size(); ++size) {
    const std::string part = archive.substr(0, size);
    TarWalk walk(reader_of(part), "a.tar");
    size_t files = 0;
    try {
      while (const auto file = walk.next()) {
        ASSERT_LT(files, whole.size());
        EXPECT_EQ(file->name + "=" + part.substr(file->data, file->size), whole[files]) << size;
        ++files;
      }
    } catch (const DataError&) {
    }
    EXPECT_LE(files, whole.size());
  }
}

/// Archives of Python's tarfile in each of its formats, and of GNU tar if it is there.
TEST(Tar, reads_archives_of_other_programs) {
  const TempFolder folder;
  const PythonResult written = run_python("python/write_tar.py", folder.path());
  if (!written.missing.empty()) GTEST_SKIP() << written.missing;
  ASSERT_EQ(written.exit_code, 0);
  const std::string long_name = "folder/" + std::string(140, 'n') + ".txt";
  for (const std::string name : {"gnu.tar", "pax.tar"}) {
    const std::string archive = read_whole_file(folder.path(name)).value();
    EXPECT_EQ(files_in(archive),
              (Texts{"folder/a.txt=first", long_name + "=second", "folder/\xc3\xa4.txt=third"}))
        << name;
  }
  const std::string ustar = read_whole_file(folder.path("ustar.tar")).value();
  EXPECT_EQ(files_in(ustar), (Texts{"folder/a.txt=first", std::string(120, 'd') + "/b.txt=second"}));
}

/// Python reads what is written here.
TEST(Tar, is_read_by_python) {
  const TempFolder folder;
  const std::string long_name = std::string(200, 'd') + ".jpg";
  folder.write_text("own.tar",
                    tar_file("a.jpg", "pixels") + tar_file(long_name, "more") + std::string(1024, '\0'));
  const PythonResult read = run_python("python/read_tar.py", folder.path("own.tar"));
  if (!read.missing.empty()) GTEST_SKIP() << read.missing;
  EXPECT_EQ(read.output, "a.jpg=pixels\n" + long_name + "=more\n");
}

}  // namespace
}  // namespace tpack
