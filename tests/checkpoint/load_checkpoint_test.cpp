#include <functional>
#include <random>

#include <gmock/gmock-matchers.h>
#include <gtest/gtest.h>
#include <hdf5.h>

#include "checkpoint/checkpoint.h"
#include "checkpoint/sample.h"
#include "checkpoint/seal.h"
#include "core/error.h"
#include "support/temporary_folder.h"

namespace tpack {
namespace {

TEST(LoadCheckpoint, detects_truncation_at_two_hundred_places) {
  const TemporaryFolder folder;
  save_checkpoint(folder / "a.h5", sample_content());
  const std::string whole = content_of(folder / "a.h5");
  for (size_t i = 0; i < 200; ++i) {
    const size_t length = whole.size() * i / 200;
    write_content(folder / "b.h5", whole.substr(0, length));
    EXPECT_EQ(load_complaint(folder / "b.h5").find((folder / "b.h5") + ": is truncated: "), 0U) << length;
  }
}

TEST(LoadCheckpoint, detects_every_single_flipped_bit) {
  const TemporaryFolder folder;
  save_checkpoint(folder / "a.h5", sample_content());
  const std::string whole = content_of(folder / "a.h5");
  std::mt19937 random(1);
  const auto expect_detected = [&](size_t bit) {
    std::string damaged = whole;
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << (bit % 8)));
    write_content(folder / "b.h5", damaged);
    EXPECT_NE(load_complaint(folder / "b.h5"), "") << "bit " << bit;
  };
  for (size_t bit = 0; bit < 100 * 8; ++bit) expect_detected(bit);  // the lines of the user block
  for (int i = 0; i < 2000; ++i) expect_detected(random() % (whole.size() * 8));
}

/// A file with a valid seal and content that `make` writes with libhdf5: what an attacker can do.
class Hostile : public testing::Test {
 protected:
  std::string complaint_of(const std::function<void(hid_t file)>& make) {
    save_checkpoint(folder_ / "a.h5", CheckpointContent{});
    std::string whole = content_of(folder_ / "a.h5");
    const hid_t file = H5Fopen((folder_ / "a.h5").c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
    make(file);
    H5Fclose(file);
    whole = content_of(folder_ / "a.h5").substr(kSealBytes);
    write_content(folder_ / "a.h5", make_seal(whole) + whole);
    const std::string text = load_complaint(folder_ / "a.h5");
    return text.empty() ? "loads" : text.substr((folder_ / "a.h5").size() + 2);
  }
  static void dataset(hid_t file, hid_t type, hid_t space, hid_t creation = H5P_DEFAULT) {
    H5Dclose(H5Dcreate2(file, "x", type, space, H5P_DEFAULT, creation, H5P_DEFAULT));
    H5Sclose(space);
  }
  static hid_t vector(hsize_t size) { return H5Screate_simple(1, &size, nullptr); }

  TemporaryFolder folder_;
};

TEST_F(Hostile, links_are_rejected) {
  EXPECT_EQ(complaint_of([](hid_t f) { H5Lcreate_soft("/y", f, "x", H5P_DEFAULT, H5P_DEFAULT); }),
            "'x' is a soft or external link; a checkpoint has none");
  EXPECT_EQ(
      complaint_of([](hid_t f) { H5Lcreate_external("/etc/passwd", "/", f, "x", H5P_DEFAULT, H5P_DEFAULT); }),
      "'x' is a soft or external link; a checkpoint has none");
}

TEST_F(Hostile, groups_that_contain_themselves_are_rejected) {
  EXPECT_THAT(complaint_of([](hid_t f) {
                const hid_t group = H5Gcreate2(f, "g", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
                H5Lcreate_hard(f, "g", group, "g", H5P_DEFAULT, H5P_DEFAULT);
                H5Gclose(group);
              }),
              testing::EndsWith("is nested deeper than 64 groups"));
}

TEST_F(Hostile, shapes_that_the_file_does_not_hold_are_rejected) {
  EXPECT_EQ(complaint_of([](hid_t f) { dataset(f, H5T_IEEE_F32LE, vector(hsize_t{1} << 33U)); }),
            "'x' declares 34359738368 bytes and stores 0");
  EXPECT_THAT(complaint_of([](hid_t f) { dataset(f, H5T_IEEE_F32LE, vector(hsize_t{1} << 60U)); }),
              testing::HasSubstr("'x' has an invalid shape"));
  const hsize_t nine[9] = {1, 1, 1, 1, 1, 1, 1, 1, 1};
  EXPECT_EQ(complaint_of([&](hid_t f) { dataset(f, H5T_IEEE_F32LE, H5Screate_simple(9, nine, nullptr)); }),
            "'x' must have a shape of at most 8 axes");
  EXPECT_EQ(complaint_of([](hid_t f) { dataset(f, H5T_IEEE_F32LE, H5Screate(H5S_NULL)); }),
            "'x' must have a shape of at most 8 axes");
}

TEST_F(Hostile, data_outside_the_file_and_filters_are_rejected) {
  EXPECT_EQ(complaint_of([](hid_t f) {
              const hid_t creation = H5Pcreate(H5P_DATASET_CREATE);
              H5Pset_external(creation, "/etc/passwd", 0, 400);
              dataset(f, H5T_STD_U8LE, vector(400), creation);
              H5Pclose(creation);
            }),
            "'x' has its data in another file");
  EXPECT_EQ(complaint_of([](hid_t f) {
              const hid_t creation = H5Pcreate(H5P_DATASET_CREATE);
              const hsize_t chunk = 4;
              H5Pset_chunk(creation, 1, &chunk);
              H5Pset_deflate(creation, 9);
              dataset(f, H5T_STD_U8LE, vector(400), creation);
              H5Pclose(creation);
            }),
            "'x' is chunked or virtual; datasets of a checkpoint are contiguous");
}

TEST_F(Hostile, other_types_are_rejected) {
  EXPECT_EQ(complaint_of([](hid_t f) { dataset(f, H5T_STD_I16BE, vector(4)); }),
            "'x' has an unsupported element type");
  EXPECT_EQ(complaint_of([](hid_t f) {
              const hid_t type = H5Tcopy(H5T_C_S1);
              H5Tset_size(type, H5T_VARIABLE);
              dataset(f, type, H5Screate(H5S_SCALAR));
              H5Tclose(type);
            }),
            "'x' is neither a string of fixed length nor a list of them");
  EXPECT_EQ(complaint_of([](hid_t f) {
              const hid_t type = H5Tcopy(H5T_STD_I8LE);
              H5Tcommit2(f, "x", type, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
              H5Tclose(type);
            }),
            "'x' is neither a group nor a dataset");
}

TEST_F(Hostile, a_dataset_without_its_digest_is_rejected) {
  EXPECT_EQ(complaint_of([](hid_t f) {
              const hid_t creation = H5Pcreate(H5P_DATASET_CREATE);
              H5Pset_alloc_time(creation, H5D_ALLOC_TIME_EARLY);
              dataset(f, H5T_STD_U8LE, vector(4), creation);
              H5Pclose(creation);
            }),
            "'x' is damaged: its content does not match its digest");
}

TEST_F(Hostile, an_unfinished_file_is_rejected) {
  EXPECT_THAT(complaint_of([](hid_t f) { H5Adelete(f, "complete"); }), testing::HasSubstr("complete"));
  EXPECT_EQ(complaint_of([](hid_t f) { H5Adelete(f, "format"); }),
            "is not a tpack checkpoint: it has another format");
}

TEST_F(Hostile, nonsense_after_a_good_seal_is_rejected) {
  const std::string nonsense(1000, 'x');
  write_content(folder_ / "b.h5", make_seal(nonsense) + nonsense);
  EXPECT_THAT(load_complaint(folder_ / "b.h5"), testing::HasSubstr("b.h5: cannot be read as HDF5"));
}

}  // namespace
}  // namespace tpack
