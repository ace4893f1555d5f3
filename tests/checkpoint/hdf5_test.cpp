#include "checkpoint/hdf5.h"

#include <unistd.h>

#include <gmock/gmock-matchers.h>
#include <gtest/gtest.h>

#include "checkpoint/checkpoint.h"
#include "core/error.h"
#include "support/temporary_folder.h"

namespace tpack::hdf5 {
namespace {

int closed = 0;

herr_t count_close(hid_t /*id*/) {
  ++closed;
  return 0;
}

TEST(Handle, closes_once_and_only_what_is_valid) {
  closed = 0;
  {
    Handle a(5, count_close);
    const Handle b(std::move(a));
    const Handle invalid(H5I_INVALID_HID, count_close);
    EXPECT_EQ(b.get(), 5);
  }
  EXPECT_EQ(closed, 1);
}

TEST(Checked, names_path_thing_and_cause_without_printing) {
  prepare();
  testing::internal::CaptureStderr();
  try {
    checked(H5Fopen("/no/such/file.h5", H5F_ACC_RDONLY, H5P_DEFAULT), "/no/such/file.h5", "is not readable");
    FAIL() << "no error";
  } catch (const CheckpointError& error) {
    EXPECT_THAT(error.what(), testing::StartsWith("/no/such/file.h5: is not readable: "));
    EXPECT_THAT(error.what(), testing::HasSubstr("No such file or directory"));
  }
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

TEST(FileType, has_the_size_of_the_element) {
  for (const DType type :
       {DType::kFloat32, DType::kFloat64, DType::kInt32, DType::kInt64, DType::kUInt8, DType::kBool}) {
    EXPECT_EQ(H5Tget_size(file_type(type).get()), size_of(type)) << name_of(type);
  }
}

TEST(MemoryFile, leaves_a_readable_file_behind) {
  MemoryFile memory;
  size_t bytes = 0;
  {
    const Handle access = memory.access();
    const Handle file(H5Fcreate("nowhere.h5", H5F_ACC_TRUNC, H5P_DEFAULT, access.get()), H5Fclose);
    H5Fflush(file.get(), H5F_SCOPE_GLOBAL);
    bytes = static_cast<size_t>(H5Fget_file_image(file.get(), nullptr, 0));
  }
  EXPECT_EQ(memory.content(bytes).substr(0, 4), "\x89HDF");
}

/// close() may fail on network file systems. libhdf5 then keeps the file, and would close it again at the
/// exit.
TEST(Hdf5DeathTest, a_process_ends_well_after_a_file_could_not_be_closed) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";  // in a process in which libhdf5 is new
  const TemporaryFolder folder;
  save_checkpoint(folder / "a.h5", {});
  EXPECT_EXIT(
      {
        prepare();
        const hid_t file = H5Fopen((folder / "a.h5").c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
        void* number = nullptr;
        H5Fget_vfd_handle(file, H5P_DEFAULT, &number);
        ::close(*static_cast<int*>(number));
        std::exit(H5Fclose(file) < 0 ? 0 : 1);
      },
      testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace tpack::hdf5
