#include "sources/format/lmdb_pages.h"

#include "core/error.h"
#include "core/rng.h"
#include "dataflow/flow_helpers.h"
#include "dataflow/test_databases.h"
#include "sources/format/lmdb.h"
#include "system/file_io.h"

namespace tpack {
namespace {

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
