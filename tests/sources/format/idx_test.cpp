#include "sources/format/idx.h"

#include "dataflow/flow_helpers.h"
#include "dataflow/packed_bytes.h"

namespace tpack {
namespace {

const Bytes kTwoByThree = {0, 0, 8, 2, 0, 0, 0, 2, 0, 0, 0, 3, 1, 2, 3, 4, 5, 6};

Bytes packed(const Bytes& bytes) {
  return gzip_file({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

TEST(Idx, reads_plain_and_gzip_files) {
  const TempFolder folder;
  folder.write("plain", kTwoByThree);
  folder.write("packed", packed(kTwoByThree));
  for (const char* name : {"plain", "packed"}) {
    const Tensor t = read_idx(folder.path(name), 2);
    EXPECT_EQ(t.shape(), (Shape{2, 3})) << name;
    EXPECT_EQ(t.at(5), 6) << name;
  }
}

TEST(Idx, reads_a_gzip_file_of_several_members) {
  Bytes large = {0, 0, 8, 2, 0, 1, 0, 0, 0, 0, 0, 4};
  large.resize(12 + (size_t{4} << 16U), 9);
  Bytes members = packed({large.begin(), large.end() - 4});
  const Bytes last = packed({1, 2, 3, 4});
  members.insert(members.end(), last.begin(), last.end());
  const TempFolder folder;
  const Tensor t = read_idx(folder.write("members.gz", members), 2);
  EXPECT_EQ(t.shape(), (Shape{65536, 4}));
  EXPECT_EQ(t.at((int64_t{65536} * 4) - 5), 9);
  EXPECT_EQ(t.at((int64_t{65536} * 4) - 1), 4);
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
  const Bytes good = packed(kTwoByThree);
  for (size_t size = 1; size < good.size(); ++size) {
    const std::string path = folder.write("cut.gz", {good.begin(), good.begin() + static_cast<long>(size)});
    EXPECT_THROW(read_idx(path, 2), DataError) << "cut to " << size << " of " << good.size();
  }
  for (size_t at = 10; at < good.size();
       ++at) {  // after the header, whose time stamp and name may be anything
    Bytes bad = good;
    bad[at] ^= 0x01U;  // the higher bits in the first byte of a stored block have no meaning
    EXPECT_THROW(read_idx(folder.write("bad.gz", bad), 2), DataError) << "byte " << at;
  }
}

TEST(Idx, a_size_that_lies_at_the_end_of_a_gzip_file_costs_no_memory) {
  Bytes lying = packed(kTwoByThree);
  std::fill(lying.end() - 4, lying.end(), uint8_t{0xFF});
  const TempFolder folder;
  const std::string path = folder.write("lying.gz", lying);
  EXPECT_TRUE(fails([&] { read_idx(path, 2); }, {path + ": is truncated or damaged"}));
}

TEST(Idx, rejects_other_files) {
  const TempFolder folder;
  EXPECT_TRUE(fails([&] { read_idx(folder.path("none"), 2); }, {folder.path("none") + ": cannot be read"}));
  const std::string path = folder.write("x", kTwoByThree);
  EXPECT_EQ(error_of([&] { read_idx(path, 3); }), path + ": is not an IDX file of bytes with 3 axes");
  Bytes longer = kTwoByThree;
  longer.push_back(7);
  EXPECT_TRUE(fails([&] { read_idx(folder.write("x", longer), 2); }, {path + ": has more data", "[2, 3]"}));
}

TEST(Idx, a_lying_header_costs_no_memory) {
  const TempFolder folder;
  const std::string path = folder.write("x", {0, 0, 8, 2, 0x7F, 0xFF, 0xFF, 0xFF, 0x7F, 0xFF, 0xFF, 0xFF, 1});
  EXPECT_EQ(error_of([&] { read_idx(path, 2); }), path + ": declares more than 4 GB");
}

}  // namespace
}  // namespace tpack
