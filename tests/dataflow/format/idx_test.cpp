#include "dataflow/format/idx.h"

#include <zlib.h>

#include "dataflow/flow_helpers.h"

namespace tpack {
namespace {

const std::vector<uint8_t> kTwoByThree = {0, 0, 8, 2, 0, 0, 0, 2, 0, 0, 0, 3, 1, 2, 3, 4, 5, 6};

void write_gz(const std::string& path, const std::vector<uint8_t>& bytes) {
  gzFile file = gzopen(path.c_str(), "wb");
  gzwrite(file, bytes.data(), static_cast<unsigned>(bytes.size()));
  gzclose(file);
}

TEST(Idx, reads_plain_and_gzip_files) {
  const TempFolder folder;
  folder.write("plain", kTwoByThree);
  write_gz(folder.path("packed"), kTwoByThree);
  for (const char* name : {"plain", "packed"}) {
    const Tensor t = read_idx(folder.path(name), 2);
    EXPECT_EQ(t.shape(), (Shape{2, 3})) << name;
    EXPECT_EQ(t.at(5), 6) << name;
  }
}

TEST(Idx, says_where_a_truncated_file_ends) {
  const TempFolder folder;
  for (size_t size = 0; size < kTwoByThree.size(); ++size) {
    const std::string path =
        folder.write("cut", {kTwoByThree.begin(), kTwoByThree.begin() + static_cast<long>(size)});
    EXPECT_THROW(read_idx(path, 2), DataError) << size << " bytes";
  }
  const std::string path = folder.write("cut", {kTwoByThree.begin(), kTwoByThree.end() - 2});
  EXPECT_EQ(error_of([&] { read_idx(path, 2); }), path + ": ends early: 4 of 6 bytes of data ([2, 3])");
}

TEST(Idx, notices_damage_anywhere_in_a_gzip_file) {
  const TempFolder folder;
  write_gz(folder.path("good.gz"), kTwoByThree);
  std::ifstream in(folder.path("good.gz"), std::ios::binary);
  const std::vector<uint8_t> good((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  for (size_t size = 1; size < good.size(); ++size) {
    const std::string path = folder.write("cut.gz", {good.begin(), good.begin() + static_cast<long>(size)});
    EXPECT_THROW(read_idx(path, 2), DataError) << "cut to " << size << " of " << good.size();
  }
  for (size_t at = 10; at < good.size();
       ++at) {  // behind the header, whose time stamp and name may be anything
    std::vector<uint8_t> bad = good;
    bad[at] ^= 0x10U;
    EXPECT_THROW(read_idx(folder.write("bad.gz", bad), 2), DataError) << "byte " << at;
  }
}

TEST(Idx, refuses_other_files) {
  const TempFolder folder;
  EXPECT_EQ(error_of([&] { read_idx(folder.path("none"), 2); }), folder.path("none") + ": cannot be opened");
  const std::string path = folder.write("x", kTwoByThree);
  EXPECT_EQ(error_of([&] { read_idx(path, 3); }), path + ": is no IDX file of bytes with 3 axes");
  std::vector<uint8_t> longer = kTwoByThree;
  longer.push_back(7);
  EXPECT_EQ(error_of([&] { read_idx(folder.write("x", longer), 2); }),
            path + ": goes on behind the [2, 3] of its header");
}

TEST(Idx, a_lying_header_costs_no_memory) {
  const TempFolder folder;
  const std::string path = folder.write("x", {0, 0, 8, 2, 0x7F, 0xFF, 0xFF, 0xFF, 0x7F, 0xFF, 0xFF, 0xFF, 1});
  EXPECT_EQ(error_of([&] { read_idx(path, 2); }), path + ": promises more than 4 GB");
}

}  // namespace
}  // namespace tpack
