#include "data_tools/data_check.h"

#include <gmock/gmock-matchers.h>
#include <nlohmann/json.hpp>

#include "dataflow/flow_helpers.h"
#include "infer/pictures.h"

namespace tpack {
namespace {

using testing::HasSubstr;
using testing::Not;

class DataCheckTest : public testing::Test {
 protected:
  void SetUp() override {
    for (uint64_t i = 0; i < 40; ++i) {
      write_picture_file(folder_, "train/" + std::string(i % 2 == 0 ? "cat/" : "dog/") + name(i), waves(i));
      if (i < 10)
        write_picture_file(folder_, "val/" + std::string(i % 2 == 0 ? "cat/" : "dog/") + name(i),
                           waves(1000 + i));
    }
  }
  static std::string name(uint64_t i) { return std::to_string(100 + i) + ".png"; }
  FlowScan scan(const std::string& flow, const std::string& inside, size_t workers = 2) const {
    ScanOptions options;
    options.workers = workers;
    return scan_flow(flow, make_flow(list({item("ImageFolder", {{"dir", folder_ / inside}})})), options);
  }
  DataCheck check(size_t workers = 2) const {
    return compare_samples({scan("train", "train", workers), scan("validation", "val", workers)});
  }
  std::string file(const DataCheck& of, const SampleOfFlow& at) const {
    return of.flows[at.flow].name_of(of.flows[at.flow].samples[at.place].index);
  }
  TemporaryFolder folder_;
};

TEST_F(DataCheckTest, finds_nothing_in_good_data) {
  const DataCheck good = check();
  EXPECT_TRUE(good.same.empty());
  EXPECT_TRUE(good.like.empty());
  EXPECT_EQ(good.failure(), "");
  EXPECT_THAT(good.str(), HasSubstr("all samples can be read, and no two are alike\n"));
}

TEST_F(DataCheckTest, finds_copies_within_a_flow_which_are_no_failure) {
  write_picture_file(folder_, "train/cat/900.png", waves(4));
  const DataCheck found = check();
  ASSERT_EQ(found.same.size(), 1U);
  EXPECT_FALSE(found.same[0].is_leak);
  EXPECT_FALSE(found.same[0].has_conflict);
  EXPECT_EQ(file(found, found.same[0].samples[0]), folder_ / "train/cat/104.png");
  EXPECT_EQ(file(found, found.same[0].samples[1]), folder_ / "train/cat/900.png");
  EXPECT_EQ(found.failure(), "");
  EXPECT_THAT(found.str(), HasSubstr("the same within a flow: 1\n"));
}

TEST_F(DataCheckTest, finds_images_of_several_flows_which_are_a_failure) {
  write_picture_file(folder_, "val/dog/900.png", waves(5));
  const DataCheck found = check();
  ASSERT_EQ(found.same.size(), 1U);
  EXPECT_TRUE(found.same[0].is_leak);
  EXPECT_EQ(found.failure(), "1 image is in several flows");
  EXPECT_THAT(found.str(), HasSubstr("train: " + (folder_ / "train/dog/105.png") +
                                     " (dog) = validation: " + (folder_ / "val/dog/900.png") + " (dog)"));
}

TEST_F(DataCheckTest, finds_copies_with_another_label) {
  write_picture_file(folder_, "train/dog/900.png", waves(4));
  const DataCheck found = check();
  ASSERT_EQ(found.same.size(), 1U);
  EXPECT_TRUE(found.same[0].has_conflict);
  EXPECT_THAT(found.str(), HasSubstr("the same with different labels: 1\n"));
  EXPECT_THAT(found.str(), Not(HasSubstr("the same within a flow")));
}

TEST_F(DataCheckTest, finds_images_that_look_alike) {
  write_picture_file(folder_, "val/cat/900.png", waves(6, 96, 128));
  write_picture_file(folder_, "train/cat/901.png", waves(8, 48, 64, 0.9, 5));
  const DataCheck found = check();
  EXPECT_TRUE(found.same.empty());
  ASSERT_EQ(found.like.size(), 2U);
  EXPECT_FALSE(found.like[0].is_leak());
  EXPECT_EQ(file(found, found.like[0].sample), folder_ / "train/cat/901.png");
  EXPECT_EQ(file(found, found.like[0].like), folder_ / "train/cat/108.png");
  EXPECT_TRUE(found.like[1].is_leak());
  EXPECT_EQ(file(found, found.like[1].like), folder_ / "train/cat/106.png");
  EXPECT_EQ(found.failure(), "") << "which may be chance";
}

TEST_F(DataCheckTest, blank_images_are_the_same_only_if_they_are) {
  for (int i = 0; i < 5; ++i)
    write_picture_file(folder_, "train/cat/blank" + std::to_string(i) + ".png",
                       blank(static_cast<uint8_t>(100 + i)));
  write_picture_file(folder_, "train/cat/blank9.png", blank(100));
  const DataCheck found = check();
  EXPECT_EQ(found.same.size(), 1U);
  EXPECT_TRUE(found.like.empty());
}

TEST_F(DataCheckTest, files_that_cannot_be_read_are_a_failure) {
  write_content(folder_ / "val/cat/900.png", "none");
  const DataCheck found = check();
  EXPECT_EQ(found.failure(), "1 sample cannot be read");
  EXPECT_THAT(found.str(),
              HasSubstr("cannot be read: 1\n  validation: " + (folder_ / "val/cat/900.png") + ": "));
}

TEST_F(DataCheckTest, is_the_same_for_any_number_of_workers) {
  write_picture_file(folder_, "val/dog/900.png", waves(5));
  write_picture_file(folder_, "train/dog/900.png", waves(4));
  write_picture_file(folder_, "val/cat/901.png", waves(6, 96, 128));
  write_content(folder_ / "val/cat/902.png", "none");
  const std::string one = check(1).to_json().dump();
  EXPECT_EQ(check(2).to_json().dump(), one);
  EXPECT_EQ(check(7).to_json().dump(), one);
}

TEST_F(DataCheckTest, json_has_all) {
  write_picture_file(folder_, "val/dog/900.png", waves(5));
  const auto report = nlohmann::json::parse(check().to_json().dump());
  EXPECT_EQ(report["flows"][1]["flow"], "validation");
  EXPECT_EQ(report["flows"][1]["samples"], 11);
  ASSERT_EQ(report["duplicates"].size(), 1U);
  EXPECT_EQ(report["duplicates"][0]["leak"], true);
  EXPECT_EQ(report["duplicates"][0]["label_conflict"], false);
  EXPECT_EQ(report["duplicates"][0]["samples"][1]["class"], "dog");
  EXPECT_EQ(report["duplicates"][0]["samples"][1]["sample"], folder_ / "val/dog/900.png");
  EXPECT_TRUE(report["near_duplicates"].empty()) << "what is the same is not alike, too";
  EXPECT_EQ(report["failure"], "1 image is in several flows");
}

TEST_F(DataCheckTest, takes_one_flow_alone) {
  const DataCheck one = compare_samples({scan("train", "train")});
  EXPECT_TRUE(one.same.empty());
  EXPECT_EQ(one.to_json()["flows"].size(), 1U);
  EXPECT_EQ(compare_samples({}).failure(), "");
}

TEST(DataCheck, rows_of_tables_may_be_equal) {
  const TemporaryFolder folder;
  write_content(folder / "a.csv", "a,b,y\n1,2,u\n3,4,v\n1,2,v\n5,6,u\n");
  write_content(folder / "b.csv", "a,b,y\n5,6,u\n7,8,v\n");
  const auto scan = [&](const std::string& name, const std::string& file) {
    return scan_flow(name,
                     make_flow(list({item("CSV", {{"file", folder / file},
                                                  {"columns", {{"x", list({"a", "b"})}}},
                                                  {"labels", {{"y", "y"}}}})})),
                     {});
  };
  const DataCheck found = compare_samples({scan("train", "a.csv"), scan("validation", "b.csv")});
  ASSERT_EQ(found.same.size(), 2U);
  EXPECT_TRUE(found.same[0].has_conflict);
  EXPECT_FALSE(found.same[0].is_leak);
  EXPECT_TRUE(found.same[1].is_leak);
  EXPECT_EQ(found.failure(), "") << "they may be different things";
  EXPECT_THAT(found.str(), HasSubstr("a.csv:5 (u) = validation: "));
}

}  // namespace
}  // namespace tpack
