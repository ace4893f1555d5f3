// Runs the program: from a folder of pictures and one of masks to masks of new pictures
// (docs/segmentation.md).
#include <gmock/gmock-matchers.h>
#include <nlohmann/json.hpp>

#include "core/rng.h"
#include "draw/png.h"
#include "support/errors.h"
#include "support/program_runner.h"

namespace tpack {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing_cli::Outcome;
using testing_cli::tpack;

constexpr int kSide = 16;

/// Pictures of noise with a bright rectangle, of which the mask is white.
class Segmentation : public testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::create_directories(folder_ / "image");
    std::filesystem::create_directories(folder_ / "mask");
    Rng rng(1);
    for (int i = 0; i < 20; ++i) {
      Tensor image(DType::kUInt8, {kSide, kSide, 3});
      Tensor mask(DType::kUInt8, Shape{kSide, kSide});
      const int left = rng.range(0, 8);
      const int top = rng.range(0, 8);
      for (int64_t p = 0; p < mask.elements(); ++p) {
        const int64_t x = p % kSide;
        const int64_t y = p / kSide;
        const bool inside = x >= left && x < left + 7 && y >= top && y < top + 7;
        mask.data<uint8_t>()[p] = inside ? 255 : 0;
        for (int64_t c = 0; c < 3; ++c)
          image.data<uint8_t>()[p * 3 + c] = static_cast<uint8_t>((inside ? 140 : 60) + rng.below(50));
      }
      write_content(folder_ / ("image/" + std::to_string(i) + ".png"), encode_png(image).at(0).png);
      write_content(folder_ / ("mask/" + std::to_string(i) + ".png"), encode_png(mask).at(0).png);
    }
    write_content(folder_ / "a.yaml",
                  "tpack: 1\nmax_epoch: 12\nengine: {threads: 1, algorithm: heuristic}\nsplit: 0.2\n"
                  "optimizer: {Adam: {learning_rate: 0.05}}\n"
                  "callbacks: [ModelSaver: {keep: 1}, InferenceRunner: {data: validation}]\n"
                  "data:\n"
                  "  train:\n"
                  "    - ImagePairs: {images: image, masks: mask, classes: [background, cell]}\n"
                  "    - AugmentImageComponent: [{RandomCrop: 12}, Flip, {Rotation: {max_deg: 20}}, "
                  "{ColorJitter: {brightness: 0.1}}]\n"
                  "    - BatchData: {batch_size: 4}\n"
                  "  validation:\n"
                  "    - AugmentImageComponent: [{CenterCrop: 12}]\n"
                  "    - BatchData: {batch_size: 4, remainder: true}\n"
                  "model:\n"
                  "  inputs: {image: {shape: [12, 12, 3], dtype: uint8, layout: HWC}, mask: {shape: [12, "
                  "12], dtype: uint8}}\n"
                  "  layers: [Normalize: {scale: 0.01, offset: -1}, Conv2D: {filters: 4, activation: ReLU}, "
                  "Conv2D: {name: logits, filters: 2, kernel: 1}]\n"
                  "  cost: [SoftmaxCrossEntropy: {logits: logits, labels: mask}, DiceLoss: {logits: logits, "
                  "labels: mask}]\n"
                  "  metrics: [IoU: {logits: logits, labels: mask}, IoU: {logits: logits, labels: mask, "
                  "class: 1, name: iou_of_cells}]\n"
                  "predict: {data: validation, outputs: {mask: {ArgMax: {input: logits, axis: 1}}}}\n");
  }

  TemporaryFolder folder_;
};

TEST_F(Segmentation, goes_from_folders_to_masks) {
  const Outcome trained =
      exits(0, tpack({"train", folder_ / "a.yaml", "--log-dir", folder_ / "run", "--resume", "never"}));
  EXPECT_TRUE(says(trained.err, {"F1  pixels", "data.train: 16 images", "background", "cell"}));
  const std::string model = folder_ / "run/checkpoints/model-48.h5";
  const Outcome compared =
      exits(0, tpack({"eval", model, "--json", "--worst", "2", "--images", folder_ / "worst.png"}));
  EXPECT_GT(json::parse(compared.out).at("iou").get<double>(), 0.8) << compared.out;
  const std::string sheet = content_of(folder_ / "worst.png");
  const auto byte = [&sheet](size_t i) { return static_cast<int>(static_cast<unsigned char>(sheet[i])); };
  EXPECT_EQ(byte(18) * 256 + byte(19), 6 * 100 + 4) << "two of picture, truth and prediction in a row";
  const Outcome drawn = exits(0, tpack({"infer", model, folder_ / "image/3.png", "--images", folder_ / "out",
                                        "--overlays", "--contours", "--format", "csv"}));
  EXPECT_THAT(drawn.out, HasSubstr("000-3-mask.png"));
  EXPECT_TRUE(std::filesystem::exists(folder_ / "out/000-3-mask-overlay.png"));
  const json outlines = json::parse(content_of(folder_ / "out/000-3-mask.json"));
  EXPECT_EQ(outlines["height"], 16) << "of the picture, of which the model sees 12";
  ASSERT_GE(outlines["areas"].size(), 1U);
  int64_t pixels = 0;
  for (const json& area : outlines["areas"]) {
    EXPECT_EQ(area["class"], 1);
    EXPECT_EQ(area["name"], "cell");
    EXPECT_EQ(area["outline"][0].size(), 2U);
    pixels += area["pixels"].get<int64_t>();
  }
  EXPECT_GT(pixels, 10);
  EXPECT_LT(pixels, 80);
  const Outcome misplaced = exits(2, tpack({"infer", model, folder_ / "image/3.png", "--contours"}));
  EXPECT_THAT(misplaced.err, HasSubstr("--contours: --images is missing"));
}

}  // namespace
}  // namespace tpack
