#include <filesystem>

#include <gmock/gmock-matchers.h>
#include <nlohmann/json.hpp>

#include "infer/pictures.h"
#include "support/program_runner.h"

namespace tpack {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::Not;
using testing_cli::Outcome;
using testing_cli::tpack;

class DataCommand : public testing::Test {
 protected:
  void SetUp() override {
    for (uint64_t i = 0; i < 12; ++i)
      write_picture_file(folder_, (i < 8 ? "train/a/" : "val/a/") + std::to_string(i) + ".png",
                         waves(i, 16, 16));
    write_content(folder_ / "c.yaml",
                  "tpack: 1\ndata:\n"
                  "  train:\n    - ImageFolder: train\n    - AugmentImageComponent: [{RandomCrop: 8}]\n"
                  "    - BatchData: 2\n"
                  "  validation: [ImageFolder: val]\n");
  }
  Outcome data(std::vector<std::string> words) const {
    words.insert(words.begin() + 1, folder_ / "c.yaml");
    words.insert(words.begin(), "data");
    return tpack(words);
  }
  TemporaryFolder folder_;
};

TEST_F(DataCommand, check_of_good_data_is_exit_0) {
  const Outcome outcome = data({"check"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("16x16"));
  EXPECT_LT(outcome.out.find("train"), outcome.out.find("validation"));
}

/// docs/remote-data.md
TEST_F(DataCommand, a_shell_gets_its_own_expressions) {
  write_content(folder_ / "numbers.txt", "40\n41\n");
  const auto inspected = [&](const std::string& script) {
    write_content(folder_ / "shell.yaml",
                  "tpack: 1\ndata:\n  train:\n    - PipeData:\n        size: 1\n        command:\n"
                  "          - sh\n          - -c\n          - |\n            cd " +
                      std::string(folder_ / "") + "\n            " + script + "\n");
    return tpack({"data", "inspect", folder_ / "shell.yaml", "--json"});
  };
  const Outcome outcome = inspected(
      "last=`tail -n 1 numbers.txt`\n            echo \"{\\\"k\\\": [`expr $last + 1`, ${TPACK_PASS}]}\"");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const json sample = json::parse(outcome.out)[0].at("samples")[0];
  EXPECT_EQ(sample.at("max"), 42) << sample;
  EXPECT_EQ(sample.at("min"), 0) << sample;
  const Outcome mistaken = inspected("echo $(tail -n 1 numbers.txt)");
  EXPECT_EQ(mistaken.code, 2);
  EXPECT_THAT(mistaken.err, HasSubstr("expression 'tail -n 1 numbers.txt'"));
}

TEST_F(DataCommand, bench_shows_the_parts_of_a_flow_and_the_processors_for_a_network) {
  const Outcome outcome = data({"bench", "--samples", "8", "--need", "300"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  for (const char* text : {"image_folder_0", "augment_image_component_0", "batch_data_0", "c.yaml:4:7",
                           "a network of 300 samples/s needs"})
    EXPECT_THAT(outcome.out, HasSubstr(text));
  const Outcome single = data({"bench", "--flow", "validation", "--samples", "8", "--json"});
  const json report = json::parse(single.out);
  EXPECT_EQ(report.at("flow"), "validation");
  EXPECT_EQ(report.at("batch_size"), 0);
  EXPECT_EQ(report.at("parts").size(), 1U);
}

TEST_F(DataCommand, bench_needs_a_flow_that_is_there) {
  const Outcome outcome = data({"bench", "--flow", "trian"});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_THAT(outcome.err, HasSubstr("did you mean 'train'?"));
}

TEST_F(DataCommand, fetch_prints_the_files_that_are_there) {
  std::filesystem::create_directories(folder_ / "caltech101-silhouettes");
  write_content(folder_ / "caltech101-silhouettes/caltech101_silhouettes_28_split1.mat", "1");
  const Outcome outcome = tpack({"data", "fetch", "Caltech101Silhouettes", "--dir", folder_.str()});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(outcome.out, (folder_ / "caltech101-silhouettes/caltech101_silhouettes_28_split1.mat") + "\n");
  EXPECT_THAT(outcome.err, HasSubstr("in a config: - Caltech101Silhouettes: {dir: " + folder_.str() + "}"));
}

TEST_F(DataCommand, fetch_of_an_unknown_dataset_is_exit_2) {
  const Outcome outcome = tpack({"data", "fetch", "Cifar11", "--dir", folder_.str()});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_THAT(outcome.err, HasSubstr("no dataset 'Cifar11'; did you mean 'Cifar10'?"));
}

TEST_F(DataCommand, check_of_bad_data_is_exit_3_and_says_what_is_wrong_last) {
  write_picture_file(folder_, "val/a/9.png", waves(2, 16, 16));
  write_content(folder_ / "train/a/1.png", "none");
  const Outcome outcome = data({"check"});
  EXPECT_EQ(outcome.code, 3);
  EXPECT_THAT(testing_cli::last_line(outcome.err),
              HasSubstr("error: 1 sample cannot be read, and 1 image is in several flows; "));
  EXPECT_THAT(outcome.out, HasSubstr("val/a/9.png"));
  const Outcome as_json = data({"check", "--json"});
  EXPECT_EQ(as_json.code, 3);
  const json report = json::parse(as_json.out);
  EXPECT_EQ(report["flows"][0]["unreadable"].size(), 1U);
  EXPECT_EQ(report["duplicates"].size(), 1U);
  EXPECT_EQ(data({"check", "--flow", "validation"}).code, 0) << "alone it is good";
}

TEST_F(DataCommand, check_leaves_out_flows_that_are_parts_of_others) {
  const Outcome outcome = data({"check", "--json", "--set", "data.train=[JoinData: [images]]", "--set",
                                "data.images=[ImageFolder: " + (folder_ / "train") + "]"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  const json report = json::parse(outcome.out);
  ASSERT_EQ(report["flows"].size(), 2U);
  EXPECT_EQ(report["flows"][0]["flow"], "train");
}

TEST_F(DataCommand, check_of_flows_without_end_is_exit_2) {
  const Outcome outcome = tpack({"data", "check", source_folder() + "/configs/catch-dqn.yaml"});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_THAT(outcome.err, HasSubstr("data.train never ends"));
  EXPECT_THAT(outcome.err, HasSubstr("no flow of 'data' ends"));
}

TEST_F(DataCommand, check_of_an_unknown_flow_is_exit_2) {
  const Outcome outcome = data({"check", "--flow", "validatoin"});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_THAT(outcome.err, HasSubstr("did you mean 'validation'?"));
}

TEST_F(DataCommand, stats_show_the_layer_that_normalizes) {
  const Outcome outcome = data({"stats"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("    - Normalize: {mean: ["));
  EXPECT_THAT(outcome.out, Not(HasSubstr("the same")));
  const json flows = json::parse(data({"stats", "--json"}).out);
  EXPECT_EQ(flows[1]["samples"], 4);
}

TEST_F(DataCommand, inspect_shows_several_draws_of_a_sample) {
  const Outcome outcome =
      data({"inspect", "--augment", "8", "--samples", "2", "--json", "--png", folder_ / "sheet.png"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const json flows = json::parse(outcome.out);
  ASSERT_EQ(flows.size(), 1U);
  EXPECT_EQ(flows[0]["samples"].size(), 32U) << "2 samples, 8 draws, 2 components";
  EXPECT_TRUE(std::filesystem::exists(folder_ / "sheet.png"));
  EXPECT_EQ(data({"inspect", "--augment", "0"}).code, 2);
  EXPECT_EQ(data({"inspect", "--augment", "2", "--images", folder_ / "out"}).code, 2);
}

}  // namespace
}  // namespace tpack
