#include "system/file_io.h"

#include <filesystem>
#include <sys/stat.h>
#include <thread>

#include <gmock/gmock-matchers.h>
#include <gtest/gtest.h>

#include "core/error.h"
#include "support/failing_file_io.h"
#include "support/temporary_folder.h"

namespace tpack {
namespace {

using testing::ElementsAre;

TEST(ReadWholeFile, gives_nothing_without_a_file) {
  const TemporaryFolder folder;
  write_whole_file(folder / "a", std::string_view("line\n\0end", 9));
  EXPECT_EQ(read_whole_file(folder / "a"), std::string("line\n\0end", 9));
  EXPECT_EQ(read_whole_file(folder / "b"), std::nullopt);
  EXPECT_EQ(read_whole_file(folder.str()), std::nullopt);
}

TEST(IsDanglingLink, tells_links_without_an_end_from_others) {
  const TemporaryFolder folder;
  write_content(folder / "file", "");
  const auto link = [&](const std::string& name, const std::string& to) {
    std::filesystem::create_symlink(to, folder / name);
    return is_dangling_link(folder / name);
  };
  EXPECT_FALSE(link("good", "file"));
  EXPECT_TRUE(link("bad", "nothing"));
  EXPECT_TRUE(link("itself", "itself"));
  EXPECT_FALSE(is_dangling_link(folder / "file"));
  EXPECT_FALSE(is_dangling_link(folder / "nothing"));
}

TEST(WriteWholeFile, replaces_the_content) {
  const TemporaryFolder folder;
  write_whole_file(folder / "a", "old content");
  const std::string_view parts[] = {"new", "", " content"};
  write_whole_file(folder / "a", parts);
  EXPECT_EQ(content_of(folder / "a"), "new content");
  EXPECT_THAT(folder.names(), ElementsAre("a"));
}

TEST(WriteWholeFile, leaves_the_old_file_or_the_new_one_whichever_call_fails) {
  const TemporaryFolder folder;
  int failures = 0;
  for (int n = 1;; ++n) {
    write_content(folder / "a", "old");
    FailingFileIo io(n);
    try {
      write_whole_file(folder / "a", "new", io);
      EXPECT_LT(io.calls(), n);
      break;
    } catch (const ResourceError& error) {
      ++failures;
      EXPECT_TRUE(std::string(error.what()).starts_with(folder / "a" + ": ")) << error.what();
      EXPECT_THAT(std::string(error.what()), testing::EndsWith("Input/output error"));
    }
    const std::string content = content_of(folder / "a");
    EXPECT_TRUE(content == "old" || content == "new") << "call " << n << ": " << content;
    EXPECT_THAT(folder.names(), ElementsAre("a")) << "call " << n;
  }
  EXPECT_EQ(failures, 8);  // open, write, fsync, close, rename; folder: open, fsync, close
}

/// Writes at most three bytes at a time and is interrupted before each write.
class SlowFileIo final : public FileIo {
 public:
  ssize_t write(int file, const void* data, size_t bytes) override {
    interrupted_ = !interrupted_;
    if (!interrupted_) return FileIo::write(file, data, std::min<size_t>(bytes, 3));
    errno = EINTR;
    return -1;
  }

 private:
  bool interrupted_ = false;
};

TEST(WriteWholeFile, keeps_links_and_writes_what_they_lead_to) {
  const TemporaryFolder folder;
  write_content(folder / "real", "old");
  std::filesystem::create_symlink("real", folder / "link");
  std::filesystem::create_symlink(folder / "link", folder / "link of link");
  std::filesystem::create_symlink("nothing", folder / "dangling");
  write_whole_file(folder / "link of link", "new");
  write_whole_file(folder / "dangling", "there");
  EXPECT_TRUE(std::filesystem::is_symlink(folder / "link"));
  EXPECT_TRUE(std::filesystem::is_symlink(folder / "link of link"));
  EXPECT_EQ(content_of(folder / "real"), "new");
  EXPECT_EQ(content_of(folder / "nothing"), "there");
}

TEST(WriteWholeFile, writes_into_devices_and_pipes) {
  const TemporaryFolder folder;
  const std::string pipe = folder / "pipe";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  std::string got;
  std::thread reader([&] { got = read_whole_file(pipe, Reads::kStreams).value_or("nothing"); });
  write_whole_file(pipe, "through");
  reader.join();
  EXPECT_EQ(got, "through");
  EXPECT_TRUE(std::filesystem::is_fifo(pipe));
  write_whole_file("/dev/null", "away");
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/null"));
  EXPECT_THROW(write_whole_file("/dev/full", "no room"), ResourceError);
}

TEST(WriteWholeFile, continues_after_short_and_interrupted_writes) {
  const TemporaryFolder folder;
  SlowFileIo io;
  write_whole_file(folder / "a", "0123456789", io);
  EXPECT_EQ(content_of(folder / "a"), "0123456789");
}

TEST(WriteWholeFile, names_path_and_cause) {
  try {
    write_whole_file("/no/such/folder/a", "x");
    FAIL() << "no error";
  } catch (const ResourceError& error) {
    EXPECT_STREQ(error.what(), "/no/such/folder/a: cannot be written (open): No such file or directory");
  }
}

TEST(AppendFile, grows_and_closes) {
  const TemporaryFolder folder;
  AppendFile file(folder / "a");
  file.write("one");
  file.write(" two");
  file.sync();
  EXPECT_EQ(content_of(folder / "a"), "one two");
  file.close();
}

TEST(TemporaryName, is_told_from_others) {
  EXPECT_TRUE(is_temporary_name("model-5.h5.tmp.1234"));
  EXPECT_FALSE(is_temporary_name("model-5.h5"));
  EXPECT_FALSE(is_temporary_name("a.tmp."));
  EXPECT_FALSE(is_temporary_name("a.tmp.12x"));
}

TEST(LinkTarget, is_the_link_itself_if_that_leads_to_a_pipe) {
  const TemporaryFolder folder;
  ASSERT_EQ(::mkfifo((folder / "pipe").c_str(), 0600), 0);
  std::filesystem::create_symlink(folder / "pipe", folder / "to_pipe");
  EXPECT_EQ(link_target(folder / "to_pipe"),
            folder / "to_pipe");  // as /dev/stdout, which leads to "pipe:[123]"
  write_content(folder / "a", "x");
  std::filesystem::create_symlink(folder / "a", folder / "to_a");
  EXPECT_EQ(link_target(folder / "to_a"), folder / "a");
}

}  // namespace
}  // namespace tpack
