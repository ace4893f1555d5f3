#include "sources/format/lmdb.h"

#include "core/error.h"
#include "core/rng.h"
#include "dataflow/flow_helpers.h"
#include "dataflow/test_databases.h"
#include "sources/format/lmdb_pages.h"
#include "system/file_io.h"
#include "system/mapping_guard.h"

namespace tpack {
namespace {

std::string rejection_of_database(const std::string& path) {
  return error_of([&] { const LmdbReader reader(path); });
}

TEST(LmdbReader, gives_records_in_the_order_of_their_keys) {
  const TempFolder folder;
  const Bytes large(100000, 8);
  write_lmdb(folder.path("db"), {{"b", {2, 3}}, {"a", large}, {"c", {}}});
  const LmdbReader reader(folder.path("db"));
  ASSERT_EQ(reader.size(), 3);
  EXPECT_EQ(reader.key(0), "a");
  EXPECT_EQ((Bytes{reader.value(0).begin(), reader.value(0).end()}), large);
  EXPECT_EQ(reader.key(1), "b");
  EXPECT_EQ((Bytes{reader.value(1).begin(), reader.value(1).end()}), (Bytes{2, 3}));
  EXPECT_TRUE(reader.value(2).empty());
}

TEST(LmdbReader, writes_nothing_and_takes_a_file_too) {
  const TempFolder folder;
  write_lmdb(folder.path("db"), {{"a", {1}}});
  namespace fs = std::filesystem;
  fs::permissions(folder.path("db/data.mdb"), fs::perms::owner_read);
  fs::permissions(folder.path("db"), fs::perms::owner_read | fs::perms::owner_exec);
  const auto files = [&] { return std::distance(fs::directory_iterator(folder.path("db")), {}); };
  const auto before = files();
  {
    const LmdbReader reader(folder.path("db"));
    const LmdbReader again(folder.path("db/data.mdb"));
    EXPECT_EQ(files(), before);
    EXPECT_EQ(again.key(0), "a");
  }
  EXPECT_EQ(files(), before);
  fs::permissions(folder.path("db"), fs::perms::owner_all);
}

TEST(LmdbReader, says_what_is_not_a_database) {
  const TempFolder folder;
  EXPECT_EQ(rejection_of_database(folder.path("none")), folder.path("none") + ": no such LMDB database");
  EXPECT_TRUE(says(rejection_of_database(folder.path()), {folder.path() + ": ", "it has no data.mdb"}));
  write_lmdb(folder.path("train_lmdb"), {{"a", {1}}});
  EXPECT_TRUE(says(rejection_of_database(folder.path()), {folder.path() + ": ", ": train_lmdb"}));
  const std::string text = folder.write("text.mdb", Bytes(9000, 'x'));
  EXPECT_THAT(rejection_of_database(text), testing::StartsWith(text + ": cannot be read by LMDB: "));
  EXPECT_EQ(rejection_of_database(folder.write("empty.mdb", {})), folder.path("empty.mdb") + ": is empty");
  write_lmdb(folder.path("nothing"), {});
  EXPECT_TRUE(says(rejection_of_database(folder.path("nothing")), {"nothing/data.mdb: has no records"}));
}

TEST(LmdbReader, notices_a_truncated_file) {
  const TempFolder folder;
  std::map<std::string, Bytes> records;
  for (int i = 0; i < 20; ++i) records["key" + std::to_string(i)] = Bytes(3000, 1);
  write_lmdb(folder.path("db"), records);
  const std::string file = folder.path("db/data.mdb");
  const auto size = static_cast<int64_t>(std::filesystem::file_size(file));
  EXPECT_EQ(rejection_of_database(folder.path("db")), "no error");
  for (int64_t kept = size - 4096; kept > 0; kept -= 4096) {
    std::filesystem::resize_file(file, static_cast<uint64_t>(kept));
    EXPECT_THAT(rejection_of_database(folder.path("db")), testing::HasSubstr(file)) << kept;
  }
}

TEST(LmdbReader, notices_a_file_that_becomes_shorter_while_it_is_read) {
  const TempFolder folder;
  std::map<std::string, Bytes> records;
  for (int i = 0; i < 200; ++i) records["key" + std::to_string(i)] = Bytes(3000, 1);
  write_lmdb(folder.path("db"), records);
  const LmdbReader reader(folder.path("db"));
  const std::string before = reader.stamp();
  std::filesystem::resize_file(folder.path("db/data.mdb"), 0);
  EXPECT_NE(reader.stamp(), before);
  EXPECT_EQ(reader.value(0)[0], 0);
  EXPECT_EQ(reader.value(199)[2999], 0);
  EXPECT_THROW(check_mapped_files(), DataError);
}

/// A database of several levels, with small values next to their keys and large ones on pages of their own.
Bytes database(const TempFolder& folder) {
  std::map<std::string, Bytes> records;
  for (int i = 0; i < 400; ++i)
    records["key " + std::to_string(100000 + i)] = Bytes(i % 100 == 0 ? 9000 : 60, static_cast<uint8_t>(i));
  write_lmdb(folder.path("db"), records);
  const std::string text = read_whole_file(folder.path("db/data.mdb")).value();
  return {text.begin(), text.end()};
}

TEST(LmdbPages, accepts_what_lmdb_writes) {
  const TempFolder folder;
  const Bytes file = database(folder);
  EXPECT_NO_THROW(check_lmdb_pages(file, "db"));
  EXPECT_NO_THROW(check_lmdb_pages(Bytes(9000, 'x'), "text")) << "liblmdb says what that is";
  EXPECT_EQ(LmdbReader(folder.path("db")).size(), 400);
}

TEST(LmdbPages, a_false_number_of_pages_is_rejected) {
  const TempFolder folder;
  Bytes file = database(folder);
  for (const size_t meta : {size_t{0}, size_t{4096}})  // the number of the last page: liblmdb adds 1
    std::fill_n(file.begin() + static_cast<ptrdiff_t>(meta + 136), 8, uint8_t{255});
  EXPECT_TRUE(
      fails([&] { const LmdbReader reader(folder.write("a.mdb", file)); }, {"a.mdb: is damaged: page"}));
}

/// liblmdb ends the program for leaves at several levels.
TEST(LmdbPages, leaves_of_different_levels_are_rejected) {
  const TempFolder folder;
  std::map<std::string, Bytes> records;
  for (int i = 0; i < 15'000; ++i) records[std::to_string(100'000 + i)] = Bytes(200, 1);
  write_lmdb(folder.path("db"), records);
  const std::string text = read_whole_file(folder.path("db/data.mdb")).value();
  Bytes file(text.begin(), text.end());
  const auto number = [&file](size_t at, size_t bytes) {
    size_t value = 0;
    for (size_t i = bytes; i-- > 0;) value = value << 8U | file[at + i];
    return value;
  };
  // Where the n-th node of a branch has the number of its page.
  const auto node = [&](size_t page, size_t n) { return page * 4096 + number(page * 4096 + 16 + 2 * n, 2); };
  const size_t meta = number(144, 8) > number(4096 + 144, 8) ? 0 : 4096;
  const size_t root = number(meta + 128, 8);
  const size_t first = number(node(root, 0), 4);
  ASSERT_EQ(number(first * 4096 + 10, 2), 1U) << "a branch: the tree has three levels";
  EXPECT_NO_THROW(check_lmdb_pages(file, "db"));
  const size_t leaf = number(node(first, 0), 4);
  std::copy_n(file.begin() + static_cast<ptrdiff_t>(node(first, 0)), 4,
              file.begin() + static_cast<ptrdiff_t>(node(root, 1)));
  EXPECT_TRUE(
      fails([&] { check_lmdb_pages(file, "db"); }, {"page " + std::to_string(leaf) + " is not valid"}));
}

/// Each bit of the pages that lead to records, one at a time: the records can be read to the last byte, or
/// the file is rejected.
TEST(LmdbPages, damaged_files_are_rejected_or_read) {
  const TempFolder folder;
  const Bytes whole = database(folder);
  int rejected = 0;
  Rng rng(1, 2);
  constexpr int kTries = 1500;
  for (int i = 0; i < kTries; ++i) {
    Bytes file = whole;
    // The first half of the tries hits the meta pages and the headers of all pages.
    const uint32_t page = rng.below(static_cast<uint32_t>(file.size() / 4096));
    const size_t place =
        i % 2 == 0 ? page * size_t{4096} + rng.below(152) : rng.below(static_cast<uint32_t>(file.size()));
    file[place] ^= static_cast<uint8_t>(1U << rng.below(8));
    const std::string path = folder.write("damaged.mdb", file);
    uint64_t sum = 0;
    try {
      const LmdbReader reader(path);
      for (int64_t n = 0; n < reader.size(); ++n) {
        for (const char c : reader.key(n)) sum += static_cast<uint8_t>(c);
        for (const uint8_t byte : reader.value(n)) sum += byte;
      }
      EXPECT_GT(sum, 0U);
    } catch (const DataError& error) {
      ++rejected;
      EXPECT_TRUE(std::string(error.what()).starts_with(path)) << error.what();
    }
  }
  EXPECT_GT(rejected, kTries / 20);
}

}  // namespace
}  // namespace tpack
