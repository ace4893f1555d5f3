#include "image/frames.h"

#include "config/yaml_reader.h"
#include "core/registry.h"
#include "dataflow/flow_helpers.h"
#include "dataflow/golden_images.h"
#include "dataflow/test_images.h"
#include "image/augment/augment_helpers.h"

namespace tpack {
namespace {

/// Two frames of three, of a file in a class folder.
class Frames : public testing::Test {
 protected:
  Frames() {
    folder_.write("a/clip.tif", std::ranges::find(golden_clips(), "tiff_pages", &GoldenClip::name)->file);
  }

  Tensor made(const std::string& frames, std::vector<ConfigNode> maps) {
    maps.insert(maps.begin(),
                parse_yaml("ImageFolder: {dir: " + folder_.path() + ", " + frames + "}", "a.yaml"));
    const DataFlow flow = make_flow(list(maps));
    Datapoint d = first_sample(flow, {.seed = 5});
    const Tensor& value = d.to_tensor(0);
    const Shape& declared = flow.spec()[0].tensor.shape;
    EXPECT_EQ(value.shape(), (Shape{value.shape()[0], value.shape()[1], declared[2]})) << declared.str();
    return value.clone();
  }

  TempFolder folder_;
};

TEST(FrameAt, is_evenly_spaced) {
  const auto places = [](int64_t wanted, int64_t stored) {
    Integers all;
    for (int64_t i = 0; i < wanted; ++i) all.push_back(frame_at(i, wanted, stored));
    return all;
  };
  EXPECT_EQ(places(4, 8), (Integers{0, 2, 4, 6}));
  EXPECT_EQ(places(3, 10), (Integers{0, 3, 6}));
  EXPECT_EQ(places(5, 2), (Integers{0, 0, 0, 1, 1}));
  EXPECT_EQ(places(1, 9), (Integers{0}));
}

TEST_F(Frames, are_channels_of_the_image) {
  const Tensor clip = made("frames: 3", {});
  EXPECT_EQ(clip.spec().str(), "uint8 [13, 17, 9]");
  EXPECT_EQ(made("frames: 2, color: gray", {}).spec().str(), "uint8 [13, 17, 2]");
  EXPECT_EQ(made("frames: 2, depth: float", {}).spec().str(), "float32 [13, 17, 6]");
  const Tensor first = first_frame(clip, 3);
  EXPECT_EQ(max_difference(first, made("frames: 1", {})), 0);
  EXPECT_EQ(first.shape(), (Shape{13, 17, 3}));
}

/// Each frame gets what the image of one frame gets, from every augmentor.
TEST_F(Frames, are_augmented_alike) {
  for (const ComponentInfo* info : Registry<Augmentor>::table().list()) {
    const std::string& name = info->name;
    if (name == "Slip" || name == "GaussianNoise" || name == "SaltPepperNoise") continue;
    SCOPED_TRACE(name);
    std::string text = info->example().empty() ? name : info->example();
    if (name == "ColorSpace") text = "ColorSpace: gray";
    const std::vector<ConfigNode> maps = {
        item("AugmentImageComponent",
             parse_yaml("[{Resize: [90, 110]}, {Resize: [70, 80]}, {ResizeShortestEdge: 300}, " +
                            std::string(text == name ? text : "{" + text + "}") + "]",
                        "a.yaml"))};
    const Tensor clip = made("frames: 3", maps);
    const Tensor one = made("frames: 1", maps);
    EXPECT_EQ(clip.shape(), one.shape().with(2, 3 * one.shape()[2]));
    EXPECT_EQ(max_difference(first_frame(clip, 3), one), 0);
    const Tensor gray = made("frames: 3, color: gray", maps);
    const Tensor one_gray = made("frames: 1, color: gray", maps);
    EXPECT_EQ(max_difference(first_frame(gray, 3), one_gray), 0);
  }
}

/// All of them, with the same draw.
TEST_F(Frames, move_together) {
  const std::vector<ConfigNode> maps = {item(
      "AugmentImageComponent", parse_yaml("[{Rotation: {max_deg: 40}}, {RandomCrop: 9}, Flip]", "a.yaml"))};
  folder_.write("a/clip.tif", golden_image("tiff_rgb").file);
  const Tensor clip = made("frames: 2", maps);
  for (int64_t i = 0; i < clip.elements(); i += 6)
    for (int64_t c = 0; c < 3; ++c) ASSERT_EQ(clip.at(i + c), clip.at(i + 3 + c));
}

TEST_F(Frames, have_noise_of_their_own) {
  folder_.write("a/clip.tif", golden_image("tiff_rgb").file);
  for (const char* noise : {"GaussianNoise: 9", "SaltPepperNoise: {}"}) {
    const Tensor clip =
        made("frames: 2", {item("AugmentImageComponent", list({parse_yaml(std::string(noise), "a.yaml")}))});
    int64_t equal = 0;
    int64_t changed = 0;
    const Tensor plain = made("frames: 2", {});
    for (int64_t i = 0; i < clip.elements(); i += 6) {
      changed += clip.at(i) != plain.at(i) ? 1 : 0;
      equal += clip.at(i) != plain.at(i) && clip.at(i) == clip.at(i + 3) ? 1 : 0;
    }
    EXPECT_GT(changed, 5) << noise;
    EXPECT_LT(equal, changed / 2 + 1) << noise;
  }
}

TEST_F(Frames, that_a_map_made_an_array_are_augmented_alike) {
  for (const std::string depth : {"8", "16", "float"}) {
    const ConfigNode augment =
        item("AugmentImageComponent", parse_yaml("[{Brightness: {delta: 30}}, {CenterPaste: 20}]", "a.yaml"));
    const std::string form = "frames: 3, depth: " + depth;
    EXPECT_EQ(max_difference(made(form, {augment}), made(form, {item("Filter", "mean(image) > 0"), augment})),
              0);
  }
}

/// The first frame as an image of one frame.
TEST_F(Frames, are_mixed_in_batches) {
  for (const char* name : {"b", "c", "d"})
    folder_.write(std::string("a/") + name + ".tif", golden_image("tiff_rgb").file);
  for (const char* mix : {"Mosaic", "CutMix", "MixUp"}) {
    const auto batch = [&](int frames) {
      const DataFlow flow = yaml_flow(
          "[ImageFolder: {dir: " + folder_.path() + ", frames: " + std::to_string(frames) +
          "}, AugmentImageComponent: [{Resize: [24, 20]}], BatchData: {batch_size: 4}, " + mix + "]");
      Datapoint d = first_sample(flow, {.seed = 5});
      EXPECT_EQ(d.tensor(0).shape(), (Shape{4, 24, 20, 3 * frames}));
      return d.tensor(0).clone();
    };
    const Tensor clips = batch(3);
    const Tensor images = batch(1);
    for (int64_t row = 0; row < 4; ++row)
      EXPECT_LE(max_difference(first_frame(clips.row(row), 3), images.row(row)), 0) << mix;
  }
}

TEST_F(Frames, of_a_format_that_has_one_are_an_error) {
  folder_.write("a/1.png", encode_png(photo(5, 4)));
  EXPECT_TRUE(fails([&] { made("frames: 4, shuffle: false", {}); }, {"a PNG has one frame", "frames: 1"}));
}

}  // namespace
}  // namespace tpack
