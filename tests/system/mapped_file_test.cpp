#include "system/mapped_file.h"

#include <csignal>
#include <fcntl.h>
#include <filesystem>
#include <sys/mman.h>
#include <sys/stat.h>
#include <thread>

#include <gmock/gmock-matchers.h>
#include <gtest/gtest-death-test.h>

#include "core/error.h"
#include "support/allocation_counter.h"
#include "support/temporary_folder.h"
#include "system/file_io.h"

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

TEST(MappedFile, rejects_pipes_without_waiting_for_a_writer) {
  const TemporaryFolder folder;
  ASSERT_EQ(::mkfifo((folder / "pipe").c_str(), 0600), 0);
  EXPECT_THAT([&] { const MappedFile file(folder / "pipe"); },
              testing::ThrowsMessage<DataError>((folder / "pipe") + ": is a pipe or a device, not a file"));
  EXPECT_THROW(MappedFile("/dev/zero"), DataError);
  EXPECT_FALSE(read_whole_file(folder / "pipe"));
  EXPECT_FALSE(read_whole_file("/dev/zero"));
}

/// Reads what a mapped file has at the end, after another program has truncated it.
class TruncatedFile : public testing::Test {
 protected:
  static constexpr size_t kBytes = 100'000;

  TruncatedFile() { write_content(path_, std::string(kBytes, 'x')); }
  void truncate() const { std::filesystem::resize_file(path_, 5000); }

  TemporaryFolder folder_;
  std::string path_ = folder_ / "data";
};

TEST_F(TruncatedFile, gives_zeros_and_an_error) {
  const MappedFile other(path_);
  const MappedFile file(path_);
  EXPECT_EQ(file.bytes()[kBytes - 1], 'x');
  EXPECT_NO_THROW(check_mapped_files());
  truncate();
  EXPECT_EQ(file.bytes()[0], 'x');
  EXPECT_EQ(file.bytes()[kBytes - 1], 0);
  EXPECT_EQ(file.bytes()[kBytes - 50'000], 0);
  for (int i = 0; i < 2; ++i)
    EXPECT_THAT([] { check_mapped_files(); },
                testing::ThrowsMessage<DataError>(testing::HasSubstr(path_ + ": changed")));
}

TEST_F(TruncatedFile, is_reported_once_if_it_is_read_no_more) {
  {
    const MappedFile file(path_);
    truncate();
    EXPECT_EQ(file.bytes()[kBytes - 1], 0);
  }
  EXPECT_THROW(check_mapped_files(), DataError);
  EXPECT_NO_THROW(check_mapped_files());
}

TEST_F(TruncatedFile, is_noticed_by_any_number_of_threads) {
  {
    const MappedFile file(path_);
    truncate();
    std::vector<std::thread> threads;
    for (int i = 0; i < 8; ++i)
      threads.emplace_back([&file, i] {
        for (size_t at = kBytes - 1; at > 20'000; at -= 1000)
          EXPECT_EQ(file.bytes()[at - static_cast<size_t>(i)], 0);
        EXPECT_THROW(check_mapped_files(), DataError);
      });
    for (std::thread& thread : threads) thread.join();
  }
  EXPECT_NO_THROW(check_mapped_files()) << "it was reported";
}

TEST(MappingGuardDeathTest, leaves_other_errors_of_the_bus_to_the_system) {
  if (!allocations_are_counted()) GTEST_SKIP() << "a sanitizer ends the program instead";
  const TemporaryFolder folder;
  write_content(folder / "a", "x");
  const MappedFile guarded(folder / "a");
  EXPECT_EXIT(
      {
        const std::string other = folder / "b";
        write_content(other, std::string(10'000, 'x'));
        const int file = ::open(other.c_str(), O_RDONLY);
        const auto* bytes =
            static_cast<const volatile char*>(::mmap(nullptr, 10'000, PROT_READ, MAP_PRIVATE, file, 0));
        std::filesystem::resize_file(other, 0);
        std::exit(bytes[9'000]);
      },
      testing::KilledBySignal(SIGBUS), "");
}

}  // namespace
}  // namespace tpack
