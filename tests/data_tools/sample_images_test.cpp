#include "data_tools/sample_images.h"

#include <filesystem>

#include "dataflow/datapoint.h"
#include "draw/png.h"
#include "support/temporary_folder.h"

namespace tpack {
namespace {

DataFlow digits(bool batched) {
  std::vector<ConfigNode> items = {ConfigNode{{"RenderedDigits", {{"split", "test"}, {"size", 6}}}}};
  if (batched) items.push_back(ConfigNode{{"BatchData", {{"batch_size", 2}}}});
  return make_flow(ConfigNode::list(items));
}

TEST(SampleImages, are_named_by_number_and_class) {
  const TemporaryFolder batches;
  const TemporaryFolder singles;
  write_sample_images(digits(true), batches.str(), 5, 1);
  write_sample_images(digits(false), singles.str(), 5, 1);
  ASSERT_EQ(batches.names().size(), 5U);
  EXPECT_EQ(batches.names(), singles.names());
  EXPECT_TRUE(batches.names()[3].starts_with("003-")) << batches.names()[3];
  EXPECT_TRUE(batches.names()[3].ends_with(".png"));
}

TEST(SampleImages, have_no_slash_or_control_character_in_their_names) {
  const TemporaryFolder data;
  const TemporaryFolder images;
  std::filesystem::create_directory(data / "a\nb");
  write_content(data / "a\nb/x.png", encode_png(Tensor::zeros({DType::kUInt8, {4, 4, 1}})).at(0).png);
  const DataFlow flow = make_flow(ConfigNode::list({ConfigNode{{"ImageFolder", data.str()}}}));
  write_sample_images(flow, images.str(), 1, 1);
  EXPECT_EQ(images.names(), (std::vector<std::string>{"000-a_b.png"}));
}

/// An image of floats may have any unit.
TEST(SampleImages, show_floats_from_the_least_to_the_largest) {
  const TemporaryFolder data;
  const TemporaryFolder images;
  std::filesystem::create_directory(data / "a");
  Tensor pixels = Tensor::zeros({DType::kUInt8, {1, 2, 3}});
  for (int64_t i = 0; i < 6; ++i) pixels.data<uint8_t>()[i] = i < 3 ? 40 : 60;
  write_content(data / "a/x.png", encode_png(pixels).at(0).png);
  const DataFlow flow =
      make_flow(ConfigNode::list({ConfigNode{{"ImageFolder", {{"dir", data.str()}, {"depth", "float"}}}}}));
  write_sample_images(flow, images.str(), 1, 1);
  const DataFlow shown = make_flow(
      ConfigNode::list({ConfigNode{{"ImageList", {{"file", data / "list.txt"}, {"root", images.str()}}}}}));
  write_content(data / "list.txt", "000-a.png a\n");
  Datapoint d;
  ASSERT_TRUE(shown.open({})->next(d));
  EXPECT_EQ(d.to_tensor(0).at(0), 0);
  EXPECT_EQ(d.to_tensor(0).at(5), 255);
}

TEST(SampleImages, need_an_image) {
  const TemporaryFolder folder;
  const DataFlow flow = make_flow(
      ConfigNode::list({ConfigNode{{"FakeData", {{"shapes", ConfigNode::list({ConfigNode::list({3})})}}}}}));
  EXPECT_THROW(write_sample_images(flow, folder.str(), 5, 1), ConfigError);
}

}  // namespace
}  // namespace tpack
