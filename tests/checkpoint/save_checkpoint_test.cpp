#include <cerrno>
#include <cstring>

#include <gmock/gmock-matchers.h>
#include <gtest/gtest.h>
#include <hdf5.h>

#include "checkpoint/checkpoint.h"
#include "checkpoint/sample.h"
#include "core/error.h"
#include "support/failing_file_io.h"
#include "support/python.h"
#include "support/small_disk.h"
#include "support/temporary_folder.h"

namespace tpack {
namespace {

using testing::ElementsAre;

std::string save_complaint(const std::string& path, const CheckpointContent& content) {
  try {
    save_checkpoint(path, content);
  } catch (const ResourceError& error) {
    return error.what();
  }
  return "";
}

TEST(SaveCheckpoint, comes_back_as_it_was) {
  const TemporaryFolder folder;
  save_checkpoint(folder / "a.h5", sample_content());
  EXPECT_TRUE(same_content(load_checkpoint(folder / "a.h5"), sample_content()));
  EXPECT_THAT(folder.names(), ElementsAre("a.h5"));
}

TEST(SaveCheckpoint, keeps_lists_of_texts) {
  const TemporaryFolder folder;
  CheckpointContent content;
  content.lists["names/of"] = {"", "one", "the longest of all", "\xC3\xA4"};
  save_checkpoint(folder / "a.h5", content);
  EXPECT_EQ(load_checkpoint(folder / "a.h5").lists, content.lists);
}

TEST(SaveCheckpoint, keeps_an_empty_content) {
  const TemporaryFolder folder;
  save_checkpoint(folder / "a.h5", {});
  EXPECT_TRUE(same_content(load_checkpoint(folder / "a.h5"), {}));
}

TEST(SaveCheckpoint, writes_the_same_bytes_for_the_same_content) {
  const TemporaryFolder folder;
  save_checkpoint(folder / "a.h5", sample_content());
  save_checkpoint(folder / "b.h5", sample_content());
  EXPECT_EQ(content_of(folder / "a.h5"), content_of(folder / "b.h5"));
}

herr_t count_times(hid_t /*object*/, const char* /*name*/, const H5O_info_t* info, void* count) {
  if (info->atime != 0 || info->mtime != 0 || info->ctime != 0 || info->btime != 0)
    ++*static_cast<int*>(count);
  return 0;
}

TEST(SaveCheckpoint, stores_no_times) {
  const TemporaryFolder folder;
  save_checkpoint(folder / "a.h5", sample_content());
  const hid_t file = H5Fopen((folder / "a.h5").c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
  int count = 0;
  EXPECT_GE(H5Ovisit(file, H5_INDEX_NAME, H5_ITER_INC, count_times, &count), 0);
  H5Fclose(file);
  EXPECT_EQ(count, 0);
}

TEST(SaveCheckpoint, rejects_names_and_texts_that_cannot_be_stored) {
  const TemporaryFolder folder;
  const auto complaint = [&](const std::string& name) -> std::string {
    CheckpointContent content;
    content.tensors[name] = Tensor::scalar(1.0F);
    try {
      save_checkpoint(folder / "a.h5", content);
    } catch (const CheckpointError& error) {
      return error.what();
    }
    return "";
  };
  for (const char* name : {"", "/a", "a//b", "a/", "a/./b"}) {
    EXPECT_EQ(complaint(name), (folder / "a.h5") + ": '" + name + "' is not a valid name in a checkpoint");
  }
  CheckpointContent content;
  content.texts["a"] = std::string("x\0y", 3);
  EXPECT_THROW(save_checkpoint(folder / "a.h5", content), CheckpointError);
  content = {};
  content.tensors["a"] = Tensor::scalar(1.0F);
  content.tensors["a/b"] = Tensor::scalar(1.0F);
  EXPECT_THROW(save_checkpoint(folder / "a.h5", content), CheckpointError);
  EXPECT_TRUE(folder.names().empty());
}

TEST(SaveCheckpoint, leaves_the_older_checkpoint_whichever_call_fails) {
  const TemporaryFolder folder;
  CheckpointContent older = sample_content();
  older.step = 1000;
  save_checkpoint(folder / "model-1000.h5", older);
  int failures = 0;
  for (int n = 1;; ++n) {
    for (const int error : {EIO, ENOSPC}) {
      FailingFileIo io(n, error);
      try {
        save_checkpoint(folder / "model-1234.h5", sample_content(), io);
      } catch (const ResourceError& failure) {
        ++failures;
        EXPECT_THAT(failure.what(), testing::HasSubstr(std::strerror(error)));
      }
      EXPECT_TRUE(same_content(load_checkpoint(folder / "model-1000.h5"), older)) << "call " << n;
      const bool complete = std::filesystem::exists(folder / "model-1234.h5");
      if (complete) {
        EXPECT_TRUE(same_content(load_checkpoint(folder / "model-1234.h5"), sample_content()));
      }
      EXPECT_EQ(folder.names().size(), complete ? 2U : 1U) << "call " << n;
      std::filesystem::remove(folder / "model-1234.h5");
      if (io.calls() < n) {
        EXPECT_EQ(failures, 2 * (n - 1));
        EXPECT_GE(n, 9);
        return;
      }
    }
  }
}

TEST(SaveCheckpoint, leaves_the_older_checkpoint_on_a_full_disk) {
  const TemporaryFolder folder;
  const SmallDisk disk(folder.str());
  if (!disk.rejected().empty()) GTEST_SKIP() << "no tmpfs can be mounted: " << disk.rejected();
  save_checkpoint(folder / "model-1.h5", sample_content());
  CheckpointContent large;
  large.tensors["model/W"] = Tensor::zeros({DType::kFloat32, {100000}});
  EXPECT_THAT(save_complaint(folder / "model-2.h5", large), testing::HasSubstr("No space left on device"));
  EXPECT_THAT(folder.names(), ElementsAre("model-1.h5"));
  EXPECT_EQ(load_complaint(folder / "model-1.h5"), "");
}

TEST(SaveCheckpoint, names_the_folder_that_is_read_only) {
  const TemporaryFolder folder;
  const SmallDisk disk(folder.str());
  if (!disk.rejected().empty()) GTEST_SKIP() << "no tmpfs can be mounted: " << disk.rejected();
  save_checkpoint(folder / "model-1.h5", sample_content());
  ASSERT_TRUE(disk.make_read_only());
  const std::string complaint = save_complaint(folder / "model-2.h5", sample_content());
  EXPECT_EQ(complaint.find(folder / "model-2.h5"), 0U);
  EXPECT_THAT(complaint, testing::HasSubstr("Read-only file system"));
  EXPECT_EQ(load_complaint(folder / "model-1.h5"), "");
}

TEST(SaveCheckpoint, is_read_by_h5py) {
  const TemporaryFolder folder;
  save_checkpoint(folder / "a.h5", sample_content());
  const PythonResult result = run_python("python/read_checkpoint.py", folder / "a.h5");
  if (!result.missing.empty()) GTEST_SKIP() << result.missing;
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.output,
            "tpack-checkpoint 1 step 1234 epoch 3 complete 1\n"
            "callbacks/ModelSaver ''\n"
            "config/yaml 'tpack: 1\\nname: \xc3\xa4\\n'\n"
            "data/bytes uint8 [0, 128, 255]\n"
            "local/flags bool [True, False, True]\n"
            "local/nothing float32 []\n"
            "model/conv0/W float32 [[1.0, 2.0, 3.0], [4.0, 5.0, 6.5]]\n"
            "model/conv0/b float64 [-0.0, 1e-310]\n"
            "optimizer/step int64 -7\n"
            "rng/counter int32 [1, -2]\n");
}

}  // namespace
}  // namespace tpack
