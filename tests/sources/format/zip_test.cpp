#include "sources/format/zip.h"

#include "core/error.h"
#include "dataflow/flow_helpers.h"
#include "dataflow/test_databases.h"

namespace tpack {
namespace {

/// The files of an archive with their content.
std::vector<std::pair<std::string, Bytes>> unpacked(const Bytes& archive) {
  std::vector<std::pair<std::string, Bytes>> files;
  for (const ZipEntry& entry : read_zip(archive, "a.zip")) {
    const OwnedBytes content = unpack_zip_entry(entry, nullptr, "a.zip");
    files.emplace_back(entry.name, Bytes(content.bytes.begin(), content.bytes.end()));
  }
  return files;
}

const Bytes kLong(10000, 'x');
Bytes two_files() { return zip_file({{"stored", {1, 2, 3}}, {"folder/", {}}, {"packed", kLong, true}}); }

TEST(Zip, reads_stored_and_deflated_files_and_leaves_folders_out) {
  const auto files = unpacked(two_files());
  ASSERT_EQ(files.size(), 2U);
  EXPECT_EQ(files[0], (std::pair<std::string, Bytes>("stored", {1, 2, 3})));
  EXPECT_EQ(files[1], (std::pair<std::string, Bytes>("packed", kLong)));
}

TEST(Zip, finds_the_directory_before_a_comment) {
  Bytes archive = two_files();
  archive[archive.size() - 2] = 3;
  archive.insert(archive.end(), {'h', 'e', 'y'});
  EXPECT_EQ(unpacked(archive).size(), 2U);
}

TEST(Zip, notices_where_an_archive_is_truncated) {
  const Bytes good = two_files();
  for (size_t size = 0; size < good.size(); ++size)
    EXPECT_THROW(unpacked({good.begin(), good.begin() + static_cast<long>(size)}), DataError) << size;
}

TEST(Zip, survives_any_damaged_byte) {
  const Bytes good = two_files();
  const auto content = unpacked(good);
  for (size_t at = 0; at < good.size(); ++at) {
    for (const uint8_t flip : {uint8_t{0x01}, uint8_t{0x80}, uint8_t{0xFF}}) {
      Bytes bad = good;
      bad[at] = static_cast<uint8_t>(bad[at] ^ flip);
      try {
        for (const auto& [name, bytes] : unpacked(bad)) {  // names may be anything, so a folder may be a file
          const bool is_right = bytes == content[0].second || bytes == content[1].second || bytes.empty();
          EXPECT_TRUE(is_right) << at;
        }
      } catch (const DataError&) {
      }
    }
  }
}

TEST(Zip, says_what_is_wrong_with_a_file_of_the_archive) {
  Bytes archive = zip_file({{"stored", {1, 2, 3}}});
  archive[30 + 6] = 7;
  EXPECT_TRUE(fails([&] { unpacked(archive); }, {"a.zip: 'stored' is damaged", "checksum"}));
  EXPECT_EQ(error_of([] { unpacked({'P', 'K'}); }), "a.zip: is not a ZIP archive (2 bytes)");
}

TEST(Zip, a_lying_size_costs_no_memory) {
  Bytes archive = zip_file({{"packed", kLong, true}});
  const size_t directory = archive.size() - 22 - 46 - 6;
  for (const size_t i : {24U, 25U, 26U}) archive[directory + i] = 0xFF;
  EXPECT_THROW(unpacked(archive), DataError);
}

TEST(Zip, files_must_not_overlap) {
  Bytes archive = zip_file({{"one", {1, 2, 3}}, {"two", {1, 2, 3}}, {"six", {1, 2, 3}}});
  EXPECT_EQ(unpacked(archive).size(), 3U);
  Bytes packed = zip_file({{"all", kLong}});
  const size_t directory = packed.size() - 22 - 46 - 3;
  const Bytes entry(packed.begin() + static_cast<long>(directory), packed.end() - 22);
  packed.insert(packed.begin() + static_cast<long>(directory), entry.begin(), entry.end());
  packed[packed.size() - 22 + 8] = packed[packed.size() - 22 + 10] = 2;
  EXPECT_EQ(error_of([&] { unpacked(packed); }), "a.zip: is damaged: its files overlap");
}

}  // namespace
}  // namespace tpack
