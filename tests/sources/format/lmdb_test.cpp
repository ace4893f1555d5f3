#include "sources/format/lmdb.h"

#include "core/error.h"
#include "dataflow/flow_helpers.h"
#include "dataflow/test_databases.h"

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
  EXPECT_TRUE(
      says(rejection_of_database(folder.path()), {folder.path() + ": has no data.mdb", ": train_lmdb"}));
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

}  // namespace
}  // namespace tpack
