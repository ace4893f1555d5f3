#include <gmock/gmock-matchers.h>

#include "callbacks/callback_scenes.h"

namespace tpack {
namespace {

using testing::ElementsAre;

constexpr const char* kConvolutions = R"(
inputs:
  image: {shape: [6, 4, 1], layout: HWC}
  label: {shape: [], dtype: int32}
layers:
  - Conv2D: {name: conv, filters: 3, kernel: 3}
  - Conv2D: {name: many, filters: 5, kernel: 3}
  - FullyConnected: {name: fc, units: 2}
cost:
  - SoftmaxCrossEntropy: {logits: fc, labels: label}
)";

/// The images that a run of an item leaves behind.
struct Images {
  TemporaryFolder folder;
  SmallTraining training{
      make_flow(parse_yaml("- FakeData: {shapes: [[6, 4, 1], []], dtype: [float32, int32], "
                           "names: [image, label], domain: [0, 2], size: 8}\n"
                           "- BatchData: {batch_size: 2}",
                           "test.yaml")),
      "Simple",
      "Adam",
      EngineSettings::Backend::kReference,
      make_self_comm(),
      model_of(kConvolutions)};

  TestRun run_of(const std::string& item, int64_t epochs = 1) {
    TestRun run({.max_epoch = epochs, .steps_per_epoch = 1}, training.trainer(), folder.str());
    run.add("probed", callback_of(item));
    return run;
  }
  std::string run(const std::string& item, int64_t epochs = 1) {
    TestRun run = run_of(item, epochs);
    return error_of_run(run);
  }
  std::string rejected(const std::string& item) {
    TestRun run = run_of(item);
    return error_of_setup(run);
  }
};

TEST(DumpTensorAsImage, writes_each_image_of_an_output) {
  Images images;
  EXPECT_EQ(images.run("DumpTensorAsImage: {output: conv}", 2), "no error");
  EXPECT_THAT(names_in(images.folder / "images"),
              ElementsAre("conv-00000001-00.png", "conv-00000001-01.png", "conv-00000002-00.png",
                          "conv-00000002-01.png"));
  const std::string png = content_of(images.folder / "images/conv-00000001-00.png");
  EXPECT_EQ(png.substr(16, 8), std::string("\0\0\0\4\0\0\0\6", 8));  // width and height
}

TEST(DumpTensorAsImage, writes_inputs_and_variables) {
  Images images;
  EXPECT_EQ(images.run("DumpTensorAsImage: {output: image, max_images: 1}"), "no error");
  EXPECT_EQ(images.run("DumpTensorAsImage: {variable: conv/W, scale: 50, shift: 128}"), "no error");
  EXPECT_THAT(names_in(images.folder / "images"),
              ElementsAre("conv-W-00000001-00.png", "conv-W-00000001-01.png", "conv-W-00000001-02.png",
                          "image-00000001-00.png"));
}

TEST(DumpTensorAsImage, rejects_what_is_no_image) {
  Images images;
  EXPECT_TRUE(says(images.rejected("DumpTensorAsImage: {output: fc}"),
                   {"callback.yaml:1:29:", "fc has the shape [2, 2], which is"}));
  EXPECT_TRUE(says(images.rejected("DumpTensorAsImage: {output: many}"), {"[2, 5, 6, 4]"}));
  EXPECT_TRUE(says(images.rejected("DumpTensorAsImage: {output: '.*'}"),
                   {"image, label, conv, many, fc", "name one tensor"}));
  EXPECT_THROW(callback_of("DumpTensorAsImage: {}"), ConfigError);
  EXPECT_THROW(callback_of("DumpTensorAsImage: {output: a, variable: b}"), ConfigError);
}

TEST(DumpTensorAsImage, lets_the_run_go_on_where_it_cannot_write) {
  const CapturedLog log;
  Images images;
  std::ofstream(images.folder / "images") << "a file, not a folder";
  EXPECT_EQ(images.run("DumpTensorAsImage: {output: conv}"), "no error");
  EXPECT_THAT(log.text(), testing::HasSubstr("images/conv-00000001-00.png"));
}

std::string images_of(const std::string& item) {
  Images images;
  std::string text = images.run(item);
  for (const std::string& name : names_in(images.folder / "images"))
    text += name + content_of(images.folder / ("images/" + name));
  return text;
}

const live::Fields kDumpTensorAsImage(
    "callback", "DumpTensorAsImage",
    {.base = "{output: conv}",
     .values = {{"output", "image"}, {"max_images", "1"}, {"shift", "20"}, {"scale", "10"}},
     .left_out = {{"variable", "either output or variable: see above"}},
     .build = images_of});

}  // namespace
}  // namespace tpack
