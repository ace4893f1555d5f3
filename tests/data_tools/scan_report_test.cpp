#include "data_tools/scan_report.h"

#include <gmock/gmock-matchers.h>
#include <nlohmann/json.hpp>

#include "dataflow/flow_helpers.h"
#include "infer/pictures.h"
#include "support/program_runner.h"

namespace tpack {
namespace {

using testing::HasSubstr;

FlowScan scan_of(const std::string& name, const TemporaryFolder& folder, const std::string& inside = ".") {
  const DataFlow flow = make_flow(list({item("ImageFolder", {{"dir", folder / inside}})}));
  return scan_flow(name, flow, {});
}

TEST(ScanReport, has_the_smallest_the_median_and_the_largest_size) {
  const TemporaryFolder folder;
  write_picture_file(folder, "a/1.png", blank(1, 10, 10));
  write_picture_file(folder, "a/2.png", blank(2, 5, 8));
  write_picture_file(folder, "a/3.png", blank(3, 10, 10));
  const FlowScan scan = scan_of("train", folder);
  const auto sizes = sizes_in(scan);
  ASSERT_TRUE(sizes);
  EXPECT_EQ(sizes->smallest.str(), "8x5");
  EXPECT_EQ(sizes->median.str(), "10x10");
  EXPECT_EQ(sizes->largest.str(), "10x10");
  EXPECT_EQ(sizes->distinct, 2);
}

TEST(ScanReport, lists_images_of_odd_shapes) {
  const TemporaryFolder folder;
  write_picture_file(folder, "a/long.png", blank(1, 31, 10));
  write_picture_file(folder, "a/three.png", blank(1, 10, 30));
  write_picture_file(folder, "a/wide.png", blank(1, 10, 31));
  const FlowScan scan = scan_of("train", folder);
  const auto odd = odd_shapes_in(scan);
  ASSERT_EQ(odd.size(), 2U);
  EXPECT_EQ(scan.name_of(odd[0]->index), folder / "./a/long.png");
  EXPECT_THAT(scans_text({scan}), HasSubstr("wide.png (31x10)"));
  EXPECT_EQ(scan_json(scan)["images"]["odd_shapes"].size(), 2U);
}

TEST(ScanReport, tells_of_classes_that_are_rare_or_absent_in_a_flow) {
  const TemporaryFolder folder;
  for (int i = 0; i < 21; ++i) write_picture_file(folder, "train/a/" + std::to_string(i) + ".png", blank(1));
  write_picture_file(folder, "train/b/1.png", blank(2));
  write_picture_file(folder, "train/b/2.png", blank(2));
  write_picture_file(folder, "test/a/1.png", blank(3));
  std::filesystem::create_directories(folder / "test/b");
  const std::vector<FlowScan> scans = {scan_of("train", folder, "train"), scan_of("test", folder, "test")};
  const std::vector<std::string> remarks = class_remarks(scans);
  ASSERT_EQ(remarks.size(), 2U);
  EXPECT_THAT(remarks[0], HasSubstr("data.train: of 'label', rare classes (b: 2; the largest has 21)"));
  EXPECT_THAT(remarks[1], HasSubstr("data.test: of 'label', no samples of the classes b"));
  EXPECT_THAT(scans_text(scans), HasSubstr(remarks[1]));
}

/// Such as masks whose classes are in their transparency.
TEST(ScanReport, tells_of_classes_that_nothing_has) {
  const TemporaryFolder folder;
  write_picture_file(folder, "a/1.png", blank(1));
  std::filesystem::create_directories(folder / "b");
  EXPECT_THAT(class_remarks({scan_of("train", folder)}),
              testing::ElementsAre("no values of 'label' have the classes b; check the files"));
}

TEST(ScanReport, the_layer_that_it_advises_fits_a_model) {
  const TemporaryFolder folder;
  for (uint64_t i = 0; i < 4; ++i)
    write_picture_file(folder, (i < 2 ? "a/" : "b/") + std::to_string(i) + ".png", waves(i, 8, 8));
  const std::vector<std::string> advice = advice_on(scan_of("train", folder));
  ASSERT_EQ(advice.size(), 1U);
  EXPECT_TRUE(advice[0].starts_with("- Normalize: {mean: [")) << advice[0];
  const TemporaryFolder other;
  write_content(other / "c.yaml",
                "tpack: 1\ndata:\n  train: [ImageFolder: " + folder.str() +
                    ", AugmentImageComponent: [{Resize: 8}], BatchData: 2]\n"
                    "model:\n"
                    "  inputs: {image: {shape: [8, 8, 3], dtype: uint8}, label: {shape: [], "
                    "dtype: int32}}\n"
                    "  layers:\n    " +
                    advice[0] +
                    "\n    - FullyConnected: {name: logits, units: 2}\n"
                    "  cost: [SoftmaxCrossEntropy: {logits: logits, labels: label}]\n"
                    "optimizer: {SGD: {learning_rate: 0.1}}\nmax_epoch: 1\n");
  const testing_cli::Outcome outcome = testing_cli::tpack({"check", other / "c.yaml"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
}

TEST(ScanReport, advises_nothing_where_nothing_varies) {
  const TemporaryFolder folder;
  write_picture_file(folder, "a/1.png", blank(7));
  EXPECT_TRUE(advice_on(scan_of("train", folder)).empty());
}

TEST(ScanReport, advises_to_standardize_columns_of_another_scale) {
  const TemporaryFolder folder;
  write_content(folder / "t.csv", "a,b\n1,1000\n2,3000\n");
  const auto advice = [&](const char* columns) {
    const DataFlow flow = make_flow(
        list({item("CSV", {{"file", folder / "t.csv"}, {"columns", {{"x", ConfigNode::list({columns})}}}})}));
    return advice_on(scan_flow("train", flow, {}));
  };
  EXPECT_EQ(advice("b"), (std::vector<std::string>{"- Standardize: x"}));
  const DataFlow advised = make_flow(
      list({item("CSV", {{"file", folder / "t.csv"}, {"columns", {{"x", ConfigNode::list({"b"})}}}}),
            item("Standardize", "x")}));
  EXPECT_NO_THROW(advised.prepare());
}

TEST(ScanReport, json_has_numbers_or_null) {
  const TemporaryFolder folder;
  write_content(folder / "t.csv", "a\n\n");
  write_picture_file(folder, "a/1.png", waves(1));
  const auto report = scan_json(scan_of("train", folder));
  EXPECT_EQ(report["numbers"].size(), 3U);
  EXPECT_EQ(report["numbers"][0]["name"], "image red");
  EXPECT_TRUE(report["numbers"][0]["mean"].is_number());
  EXPECT_EQ(report["classes"]["label"][0]["samples"], 1);
  EXPECT_EQ(nlohmann::json::parse(report.dump()), nlohmann::json(report));
}

}  // namespace
}  // namespace tpack
