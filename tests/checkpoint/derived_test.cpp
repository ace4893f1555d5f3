#include "checkpoint/derived.h"

#include <array>

#include <gmock/gmock-matchers.h>
#include <gtest/gtest.h>
#include <hdf5.h>

#include "checkpoint/layout.h"
#include "core/error.h"
#include "support/temporary_folder.h"

namespace tpack {
namespace {

using testing::HasSubstr;

/// A checkpoint with one weight, a counter and the state of a run.
CheckpointContent of_run(const std::vector<float>& weight, int32_t count) {
  CheckpointContent content{.step = count};
  const Shape shape{static_cast<int64_t>(weight.size())};
  content.tensors.emplace("model/fc/W", Tensor::of<float>(shape, weight));
  content.tensors.emplace("model/count", Tensor::scalar<int32_t>(count));
  content.tensors.emplace("optimizer/m/fc/W", Tensor::of<float>(shape, weight));
  content.texts = {{layout::kConfig, "tpack: 1\n"},
                   {layout::kRun, "{}"},
                   {layout::kLabels, "[]"},
                   {layout::kFitted, "{}"},
                   {layout::kInput, "{}"}};
  content.lists = {{"callbacks/list", {"a", "b"}}};
  return content;
}

class DerivedCheckpoints : public testing::Test {
 protected:
  std::string save(const std::string& name, CheckpointContent content) const {
    save_checkpoint(folder_ / name, std::move(content));
    return folder_ / name;
  }
  TemporaryFolder folder_;
};

TEST_F(DerivedCheckpoints, for_predictions_have_the_model_and_its_config) {
  const CheckpointContent content = for_predictions(of_run({1, 2}, 7));
  EXPECT_EQ(content.step, 7);
  EXPECT_EQ(content.tensors.size(), 2U);
  EXPECT_TRUE(content.tensors.contains("model/fc/W"));
  EXPECT_EQ(content.texts.size(), 4U);
  for (const auto& name : {layout::kConfig, layout::kLabels, layout::kFitted, layout::kInput})
    EXPECT_TRUE(content.texts.contains(name)) << name;
  EXPECT_TRUE(content.lists.empty());
}

TEST_F(DerivedCheckpoints, averages_are_means_of_floats_and_the_last_of_the_rest) {
  const std::string a = save("a.h5", of_run({1, 5}, 7));
  const std::string b = save("b.h5", of_run({2, -1}, 9));
  const CheckpointContent mean = average_of({a, b});
  EXPECT_EQ(mean.tensors.at("model/fc/W").at(0), 1.5);
  EXPECT_EQ(mean.tensors.at("model/fc/W").at(1), 2);
  EXPECT_EQ(mean.tensors.at("model/fc/W").dtype(), DType::kFloat32);
  EXPECT_EQ(mean.tensors.at("model/count").at(0), 9);
  EXPECT_EQ(mean.tensors.count("optimizer/m/fc/W"), 0U);
  EXPECT_EQ(average_of({a}).tensors.at("model/fc/W").at(1), 5);
}

TEST_F(DerivedCheckpoints, models_of_other_shapes_have_no_average) {
  const std::string a = save("a.h5", of_run({1, 5}, 7));
  const std::string longer = save("longer.h5", of_run({1, 5, 6}, 7));
  CheckpointContent more = of_run({1, 5}, 7);
  more.tensors.emplace("model/fc/b", Tensor::of<float>({1}, {1}));
  const std::string extra = save("extra.h5", std::move(more));
  const auto error_of = [](const std::vector<std::string>& paths) -> std::string {
    try {
      average_of(paths);
    } catch (const CheckpointError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_THAT(error_of({a, longer}), HasSubstr("longer.h5: 'model/fc/W' has the shape [3], in"));
  EXPECT_THAT(error_of({a, extra}), HasSubstr("extra.h5: 'model/fc/b' is not in"));
  EXPECT_THAT(error_of({extra, a}), HasSubstr("a.h5: has 1 variables of floats,"));
}

TEST_F(DerivedCheckpoints, an_edited_file_loads_only_where_asked) {
  const std::string path = save("a.h5", of_run({1, 5}, 7));
  const std::array<float, 2> edited = {3, 4};
  const hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
  const hid_t weight = H5Dopen2(file, "model/fc/W", H5P_DEFAULT);
  H5Dwrite(weight, H5T_NATIVE_FLOAT, H5S_ALL, H5S_ALL, H5P_DEFAULT, edited.data());
  H5Dclose(weight);
  H5Fclose(file);
  EXPECT_THROW(load_checkpoint(path), CheckpointError);
  CheckpointContent content = load_edited_checkpoint(path);
  EXPECT_EQ(content.tensors.at("model/fc/W").at(1), 4);
  const std::string again = save("signed.h5", std::move(content));
  EXPECT_EQ(load_checkpoint(again).tensors.at("model/fc/W").at(0), 3);
  EXPECT_EQ(load_checkpoint(again).step, 7);
}

TEST_F(DerivedCheckpoints, an_edited_file_must_be_a_checkpoint) {
  const std::string path = folder_ / "other.h5";
  H5Fclose(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT));
  EXPECT_THROW(load_edited_checkpoint(path), CheckpointError);
  write_content(path, "text");
  EXPECT_THROW(load_edited_checkpoint(path), CheckpointError);
}

}  // namespace
}  // namespace tpack
