#include "config/load_config.h"

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "core/error.h"
#include "small_structure.h"
#include "support/errors.h"
#include "support/temporary_folder.h"

namespace tpack {
namespace {

using testing_config::small_structure;

namespace fs = std::filesystem;

class LoadConfig : public testing::Test {
 protected:
  LoadConfig() { fs::create_directories(folder_ / "models"); }

  void file(const std::string& name, const std::string& text) const { std::ofstream(folder_ / name) << text; }
  std::string load(const std::string& name, const std::vector<std::string>& overrides = {}) const {
    return to_json(
        load_config((folder_ / name).string(), {.overrides = overrides, .structure = small_structure()})
            .root);
  }

  TemporaryFolder temporary_;
  fs::path folder_ = temporary_.str();
};

TEST_F(LoadConfig, lets_later_includes_win_and_the_file_over_all) {
  file("a.yaml", "vars: {x: a, y: a, z: a}");
  file("b.yaml", "vars: {x: b, y: b}");
  file("main.yaml", "tpack: 1\ninclude: [a.yaml, b.yaml]\nvars: {x: main}\n");
  EXPECT_EQ(load("main.yaml"), R"({"vars": {"x": "main", "y": "b", "z": "a"}, "tpack": 1})");
}

TEST_F(LoadConfig, takes_paths_as_relative_to_the_file_that_includes) {
  file("models/base.yaml", "vars: {base: 1}");
  file("models/net.yaml", "include: base.yaml\nvars: {net: 2}");
  file("main.yaml", "tpack: 1\ninclude: models/net.yaml\n");
  EXPECT_EQ(load("main.yaml"), R"({"vars": {"base": 1, "net": 2}, "tpack": 1})");
}

TEST_F(LoadConfig, includes_a_file_on_two_ways) {
  file("base.yaml", "vars: {base: 1}");
  file("a.yaml", "include: base.yaml");
  file("main.yaml", "tpack: 1\ninclude: [a.yaml, base.yaml]\n");
  EXPECT_EQ(load("main.yaml"), R"({"vars": {"base": 1}, "tpack": 1})");
}

TEST_F(LoadConfig, applies_overrides_in_order_before_expressions) {
  file("main.yaml", "tpack: 1\nvars: {x: 1}\ny: $(x * 10)\nl: [A: {v: 1}]\noptimizer: {Adam: {lr: 1}}\n");
  EXPECT_EQ(
      load("main.yaml", {"vars.x=2", "vars.x=3", "l.A.v=$(x)", "l=!append [B]", "optimizer.SGD.lr=2"}),
      R"({"tpack": 1, "vars": {"x": 3}, "y": 30, "l": [{"A": {"v": 3}}, "B"], "optimizer": {"SGD": {"lr": 2}}})");
}

TEST_F(LoadConfig, sets_the_batch_size_of_a_flow) {
  file("main.yaml", "tpack: 1\ndata: {train: [Mnist, BatchData: {batch_size: 128}]}\n");
  EXPECT_EQ(
      load("main.yaml", {"data.train.BatchData.batch_size=64", "data.train.workers=2"}),
      R"({"tpack": 1, "data": {"train": {"flow": ["Mnist", {"BatchData": {"batch_size": 64}}], "workers": 2}}})");
}

TEST_F(LoadConfig, explains_through_files_and_options) {
  file("a.yaml", "seed: 1");
  file("main.yaml", "tpack: 1\ninclude: a.yaml\nseed: $(1 + 1)\n");
  const LoadedConfig loaded = load_config((folder_ / "main.yaml").string());
  const auto origins = loaded.explain("seed");
  ASSERT_EQ(origins.size(), 2U);
  EXPECT_EQ(origins[0].str(), (folder_ / "a.yaml").string() + ":1:7: 1");
  EXPECT_EQ(origins[1].str(), (folder_ / "main.yaml").string() + ":3:7: \"$(1 + 1)\" (used)");
}

TEST_F(LoadConfig, suggests_a_file_of_a_like_name_whatever_the_endings) {
  file("bom.yaml", "vars: {}");
  file("lenet.yaml", "vars: {}");
  file("digits.yml", "vars: {}");
  const auto suggestion = [&](const std::string& include) {
    file("main.yaml", "tpack: 1\ninclude: " + include + "\n");
    const std::string text = error_from([&] { load("main.yaml"); });
    const std::string before = "no such file '" + (folder_ / include).string() + "'";
    EXPECT_TRUE(says(text, {before}));
    return text.substr(text.find(before) + before.size());
  };
  const auto meant = [&](const std::string& name) {
    return "; did you mean '" + (folder_ / name).string() + "'?";
  };
  EXPECT_EQ(suggestion("nope.yaml"), "");
  EXPECT_EQ(suggestion("lennet.yaml"), meant("lenet.yaml"));
  EXPECT_EQ(suggestion("lenet"), meant("lenet.yaml"));
  EXPECT_EQ(suggestion("lenet.yml"), meant("lenet.yaml"));
  EXPECT_EQ(suggestion("digit.yml"), meant("digits.yml"));
}

TEST_F(LoadConfig, bounds_the_depth_of_includes) {
  file("f0.yaml", "vars: {}");
  for (int i = 1; i <= 17; ++i) {
    file("f" + std::to_string(i) + ".yaml", "tpack: 1\ninclude: f" + std::to_string(i - 1) + ".yaml\n");
  }
  EXPECT_NO_THROW(load("f16.yaml"));
  EXPECT_EQ(error_from([&] { load("f17.yaml"); }),
            (folder_ / "f1.yaml").string() + ":2:10: includes are nested deeper than 16 files");
}

TEST_F(LoadConfig, bounds_what_files_that_include_each_other_twice_bring) {
  file("f0.yaml", "vars: {a: [1, 2, 3, 4, 5, 6, 7, 8]}");
  for (int i = 1; i <= 16; ++i) {
    const std::string name = "f" + std::to_string(i - 1) + ".yaml";
    file("f" + std::to_string(i) + ".yaml", "tpack: 1\ninclude: [" + name + ", " + name + "]\n");
  }
  EXPECT_TRUE(says((error_from([&] { load("f16.yaml"); })), {"the config has more than 100000 values"}));
}

TEST_F(LoadConfig, of_a_checkpoint_reads_neither_files_nor_the_environment) {
  file("secret", "token=1");
  EXPECT_EQ(error_from([&] {
              load_config_text("tpack: 1\ninclude: " + (folder_ / "secret").string() + "\n", "a.h5");
            }),
            "a.h5:2:10: the config in a checkpoint may not include files");
  ASSERT_EQ(setenv("TPACK_TEST_SECRET", "token", 1), 0);
  const std::string reads = "tpack: 1\nname: $(env.TPACK_TEST_SECRET or 'none')\n";
  EXPECT_EQ(
      error_from([&] { load_config_text(reads, "a.h5"); }),
      "a.h5:2:7: 'env.TPACK_TEST_SECRET' reads an environment variable, which the config in a checkpoint may "
      "not; give the value with --set");
  EXPECT_EQ(load_config_text(reads, "a.h5", {.overrides = {"name=mine"}}).root.find("name")->text(), "mine");
  EXPECT_NE(error_from([&] {
              load_config_text("tpack: 1\nlayers: [a, {b: $(env.TPACK_TEST_SECRET)}]\n", "a.h5");
            }).find("reads an environment variable"),
            std::string::npos);
  ASSERT_EQ(unsetenv("TPACK_TEST_SECRET"), 0);
  EXPECT_EQ(load_config_text(reads, "a.h5").root.find("name")->text(), "none");
}

}  // namespace
}  // namespace tpack
