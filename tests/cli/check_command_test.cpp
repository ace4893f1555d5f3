#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <set>

#include <gmock/gmock-matchers.h>

#include "dataflow/test_databases.h"
#include "experiment/check.h"
#include "support/late_source.h"
#include "support/program_runner.h"

namespace tpack {
namespace {

using testing_cli::kTinyConfig;

constexpr const char* kNoDataset = "TPACK_DATASET is not set: no real MNIST to read";

TEST(CheckCommand, opens_data_that_alone_tell_what_they_hold) {
  const TemporaryFolder folder;
  write_content(folder / "tiny.yaml", kTinyConfig);
  const std::vector<std::string> late = {"data.train.0={Late: {size: 12}}"};
  CheckedExperiment checked(folder / "tiny.yaml", late, true);
  EXPECT_EQ(checked.steps_per_epoch(), 3);
  EXPECT_EQ(checked.experiment().train_flow()->spec().str(), "image uint8 [4, 4, 4, 1], label int32 [4]");
}

TEST(CheckCommand, takes_what_the_model_declares_for_data_that_are_not_opened) {
  const TemporaryFolder folder;
  write_content(folder / "tiny.yaml", kTinyConfig);
  const auto check = [&](const std::vector<std::string>& sets) {
    std::vector<std::string> words = {"check", folder / "tiny.yaml", "--no-data", "--set",
                                      "data.train.0={Npz: absent.npz}"};
    for (const std::string& set : sets) words.insert(words.end(), {"--set", set});
    return testing_cli::tpack(words);
  };
  const testing_cli::Outcome good = check({});
  EXPECT_EQ(good.code, 0) << good.err;
  EXPECT_THAT(good.out, testing::HasSubstr("float32 [4, 5]")) << "the batch size of the config";
  EXPECT_THAT(good.err, testing::HasSubstr("nor whether data.train fits the model"));
  const testing_cli::Outcome bad = check({"optimizer=!delete", "updates={d: {variables: nothing}}"});
  EXPECT_EQ(bad.code, 2) << bad.err;
  const testing_cli::Outcome known = testing_cli::tpack({"check", folder / "tiny.yaml", "--no-data"});
  EXPECT_THAT(known.err, testing::Not(testing::HasSubstr("fits the model")));
  const testing_cli::Outcome no_model = check({"model=!delete", "optimizer=!delete", "predict=!delete",
                                               "callbacks=[]", "trainer={KMeans: {clusters: 2}}"});
  EXPECT_EQ(no_model.code, 2);
  EXPECT_THAT(no_model.err,
              testing::ContainsRegex(
                  "error: [^ ]*tiny.yaml:5:5: the contents of data.train are known only after it is opened"));
}

TEST(CheckCommand, takes_the_config_for_databases_of_caffe_which_trains) {
  const TemporaryFolder folder;
  for (const std::string name : {"train_lmdb", "test_lmdb"}) {
    std::map<std::string, std::vector<uint8_t>> records;
    for (int i = 0; i < 3; ++i)
      records[std::to_string(i)] =
          pixel_datum(3, 4 + i, 5, std::vector<uint8_t>(size_t{15} * (4U + static_cast<size_t>(i))), i);
    write_lmdb(folder / name, records);
  }
  CheckedExperiment checked(source_folder() + "/configs/caffe-lmdb.yaml",
                            {"vars.dir=" + folder.str(), "vars.batch=2", "vars.classes=3"}, true);
  EXPECT_EQ(checked.experiment().train_flow()->spec().str(), "image uint8 [2, 225, 225, 1], label int32 [2]");
  EXPECT_EQ(checked.experiment().train_flow()->settings().workers.count, 2);
  EXPECT_EQ(checked.experiment().train_flow()->settings().prefetch, 3);
  const testing_cli::Outcome trained =
      testing_cli::tpack({"train", source_folder() + "/configs/caffe-lmdb.yaml", "--log-dir", folder / "run",
                          "--set", "vars.dir=" + folder.str(), "--set", "vars.batch=2", "--set",
                          "vars.classes=3", "--set", "max_epoch=2"});
  EXPECT_EQ(trained.code, 0) << trained.err;
  EXPECT_TRUE(std::filesystem::exists(folder / "run/checkpoints/model-2.h5")) << trained.err;
}

/// A config of configs/; those left out need files that other tests make first, or large datasets (the tests
/// OneBatch run these on others).
std::vector<std::string> shipped_configs() {
  const std::set<std::string> left_out = {"alexnet-dorefa", "caffe-lmdb", "digits-distillation",
                                          "digits-records", "finetune",   "multi-label",
                                          "photos",         "regression", "svhn-convnet"};
  std::vector<std::string> names;
  for (const auto& file : std::filesystem::directory_iterator(source_folder() + "/configs"))
    if (!left_out.contains(file.path().stem())) names.push_back(file.path().stem());
  std::sort(names.begin(), names.end());
  return names;
}

class ShippedConfig : public testing::TestWithParam<std::string> {};

/// Callbacks and gates, too, which `check --no-data` leaves out.
TEST_P(ShippedConfig, has_no_mistake) {
  const std::map<std::string, std::string> needs = {{"cifar-preact18-mixup", "TPACK_CIFAR is not set"},
                                                    {"cifar-resnet", "TPACK_CIFAR is not set"},
                                                    {"cifar10-fast", "TPACK_CIFAR is not set"},
                                                    {"fashion-mnist", kNoDataset},
                                                    {"mlp", kNoDataset},
                                                    {"mnist-convnet", kNoDataset}};
  const auto need = needs.find(GetParam());
  if (need != needs.end()) {
    const std::string variable = need->second.substr(0, need->second.find(' '));
    if (std::getenv(variable.c_str()) == nullptr) GTEST_SKIP() << need->second;
  }
  CheckedExperiment checked(source_folder() + "/configs/" + GetParam() + ".yaml", {}, true);
  EXPECT_FALSE(checked.statistics().empty());
}

INSTANTIATE_TEST_SUITE_P(Configs, ShippedConfig, testing::ValuesIn(shipped_configs()), [](const auto& one) {
  std::string name = one.param;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

}  // namespace
}  // namespace tpack
