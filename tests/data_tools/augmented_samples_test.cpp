#include "data_tools/augmented_samples.h"

#include <set>

#include <gmock/gmock-matchers.h>

#include "data_tools/contact_sheet.h"
#include "data_tools/flow_inspection.h"
#include "dataflow/flow_helpers.h"
#include "infer/pictures.h"

namespace tpack {
namespace {

class AugmentedSamplesTest : public testing::Test {
 protected:
  void SetUp() override {
    for (uint64_t i = 0; i < 4; ++i)
      write_picture_file(folder_, "cat/" + std::to_string(i) + ".png", waves(i, 16, 16));
  }
  DataFlow flow(const std::vector<ConfigNode>& maps) const {
    std::vector<ConfigNode> items = {item("ImageFolder", {{"dir", folder_.str()}})};
    items.insert(items.end(), maps.begin(), maps.end());
    items.push_back(item("BatchData", {{"batch_size", 2}}));
    return make_flow(list(items));
  }
  static ConfigNode crops() { return item("AugmentImageComponent", list({item("RandomCrop", 8)})); }
  TemporaryFolder folder_;
};

TEST_F(AugmentedSamplesTest, are_different_draws_of_the_same_sample) {
  AugmentedSamples drawn = augmented_samples(flow({crops()}), 2, 8, 1);
  ASSERT_EQ(drawn.draws.size(), 16U);
  EXPECT_EQ(drawn.spec[0].tensor.str(), "uint8 [8, 8, 3]") << "before batches";
  std::set<std::string> pictures;
  for (size_t i = 0; i < 16; ++i) {
    EXPECT_EQ(drawn.draws[i].id().index, static_cast<int64_t>(i / 8));
    const Tensor& picture = drawn.draws[i].to_tensor(0);
    if (i < 8) pictures.insert({reinterpret_cast<const char*>(picture.raw()), picture.bytes()});
  }
  EXPECT_GT(pictures.size(), 4U);
}

TEST_F(AugmentedSamplesTest, draw_0_is_what_the_first_pass_gives) {
  const DataFlow train = flow({crops()});
  AugmentedSamples drawn = augmented_samples(train, 4, 1, 3);
  const auto cursor = train.open({.seed = 3});
  std::multiset<std::string> expected;
  std::multiset<std::string> found;
  for (Datapoint batch; cursor->next(batch);)
    for (int64_t row = 0; row < 2; ++row) {
      const Tensor picture = batch.to_tensor(0).row(row);
      expected.insert({reinterpret_cast<const char*>(picture.raw()), picture.bytes()});
    }
  for (Datapoint& d : drawn.draws)
    found.insert({reinterpret_cast<const char*>(d.to_tensor(0).raw()), d.to_tensor(0).bytes()});
  EXPECT_EQ(found, expected);
}

TEST_F(AugmentedSamplesTest, leave_out_what_cannot_be_read) {
  write_content(folder_ / "cat/0.png", "none");
  const AugmentedSamples drawn = augmented_samples(flow({crops()}), 10, 2, 1);
  EXPECT_EQ(drawn.draws.size(), 6U);
  EXPECT_EQ(drawn.draws[0].id().index, 1);
}

TEST_F(AugmentedSamplesTest, without_random_numbers_are_alike) {
  AugmentedSamples drawn =
      augmented_samples(flow({item("AugmentImageComponent", list({item("CenterCrop", 16)}))}), 1, 2, 1);
  ASSERT_EQ(drawn.draws.size(), 2U);
  for (Datapoint& draw : drawn.draws) EXPECT_TRUE(bit_equal(draw.to_tensor(0), waves(0, 16, 16)));
}

TEST_F(AugmentedSamplesTest, are_inspected_and_drawn) {
  const DataFlow train = flow({crops()});
  AugmentedSamples drawn = augmented_samples(train, 1, 3, 1);
  const FlowInspection report = inspect_samples("train", train, drawn.spec, drawn.draws);
  EXPECT_EQ(report.values.size(), 6U);
  EXPECT_EQ(report.values[4].item, 2);
  const std::vector<CaptionedImage> images = captioned_images(drawn.spec, drawn.draws);
  ASSERT_EQ(images.size(), 3U);
  EXPECT_EQ(images[2].caption, "cat");
  write_image_sheet(images, folder_ / "sheet.png", 3);
  EXPECT_FALSE(content_of(folder_ / "sheet.png").empty());
}

TEST(AugmentedSamples, of_sequential_flows_are_read_again) {
  AugmentedSamples drawn = augmented_samples(make_flow(list({item("NumbersInOrder", 5)})), 2, 2, 1);
  ASSERT_EQ(drawn.draws.size(), 4U);
  EXPECT_EQ(drawn.draws[3].tensor(0).at(0), 1);
  EXPECT_EQ(augmented_samples(make_flow(list({item("NumbersInOrder", 5)})), 9, 2, 1).draws.size(), 10U);
}

}  // namespace
}  // namespace tpack
