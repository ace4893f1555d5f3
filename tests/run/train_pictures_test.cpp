// Runs the program on pictures of the user (docs/pictures.md): labels from a list, larger pictures from a
// folder, pairs.
#include <gmock/gmock-matchers.h>
#include <nlohmann/json.hpp>

#include "core/rng.h"
#include "draw/png.h"
#include "support/program_runner.h"

namespace tpack {
namespace {

using testing::HasSubstr;
using testing_cli::Outcome;
using testing_cli::tpack;

constexpr int kPictureSide = 24;

/// Pictures that are red or not and bright or not, in folders of two classes, and a table about them.
class Pictures : public testing::Test {
 protected:
  void SetUp() override {
    Rng rng(1);
    std::string table = "photo,red,bright,light\n";
    for (int i = 0; i < 24; ++i) {
      const bool red = i % 2 == 0;
      const bool bright = i % 3 == 0;
      const int light = (bright ? 150 : 50) + rng.range(0, 40);
      Tensor image(DType::kUInt8, {kPictureSide, kPictureSide, 3});
      for (int64_t k = 0; k < image.elements(); ++k)
        image.data<uint8_t>()[k] =
            static_cast<uint8_t>(light + rng.range(0, 10) + (red && k % 3 == 0 ? 50 : 0));
      const std::string name = std::string(red ? "red/" : "gray/") + std::to_string(i) + ".png";
      std::filesystem::create_directories(folder_ / (red ? "red" : "gray"));
      write_content(folder_ / name, encode_png(image).at(0).png);
      table += name + "," + std::to_string(red) + "," + std::to_string(bright) + "," + std::to_string(light) +
               "\n";
    }
    write_content(folder_ / "a.csv", {table.begin(), table.end()});
    std::filesystem::create_directories(folder_ / "photos");
    std::filesystem::rename(folder_ / "red", folder_ / "photos/red");
    std::filesystem::rename(folder_ / "gray", folder_ / "photos/gray");
  }
  /// Trains with these first items of both flows, and predicts all pictures.
  std::string predictions(const std::string& source, const std::string& after, const std::string& inputs,
                          const std::string& layers, const std::string& rest) {
    write_content(folder_ / "a.yaml",
                  "tpack: 1\nmax_epoch: 30\nengine: {threads: 1, algorithm: heuristic}\n"
                  "optimizer: {Adam: {learning_rate: 0.02}}\n"
                  "callbacks: [ModelSaver: {keep: 1}, InferenceRunner: {data: validation}]\n"
                  "data:\n  train: [" +
                      source + ", " + after + ", BatchData: 8]\n  validation: [" + source + ", " + after +
                      ", BatchData: {batch_size: 8, remainder: true}]\nmodel:\n  inputs: {" + inputs +
                      "}\n  layers: [" + layers + "]\n" + rest);
    const Outcome trained =
        exits(0, tpack({"train", folder_ / "a.yaml", "--log-dir", folder_ / "run", "--resume", "never"}));
    const Outcome found =
        tpack({"infer", folder_ / "run/checkpoints/model-90.h5", folder_ / "photos/red/0.png",
               folder_ / "photos/gray/1.png", "--format", "csv"});
    EXPECT_EQ(found.code, 0) << found.err;
    return trained.err + found.out;
  }

  TemporaryFolder folder_;
  static constexpr const char* kImage = "image: {shape: [24, 24, 3], dtype: uint8, layout: HWC}";
};

TEST_F(Pictures, get_labels_from_a_list) {
  const std::string out = predictions(
      "ImageList: {file: " + (folder_ / "a.csv") + ", path: photo, root: " + (folder_ / "photos") +
          ", labels: {tags: [red, bright]}}",
      "AugmentImageComponent: [{Resize: 24}]", std::string(kImage) + ", tags: {shape: [2], dtype: float32}",
      "Normalize: {scale: 0.01, offset: -1}, GlobalAvgPooling, FullyConnected: {name: logits, units: 2}",
      "  cost: [SigmoidCrossEntropy: {logits: logits, labels: tags}]\n"
      "  metrics: [MultiLabelAccuracy: {logits: logits, labels: tags}]\n"
      "predict: {data: validation, outputs: {probability: {Sigmoid: logits}}}\n");
  EXPECT_THAT(out, HasSubstr("red"));
}

/// Labels stay class numbers to the model, validation and predictions.
TEST_F(Pictures, are_mixed_by_one_line) {
  write_content(
      folder_ / "mixed.yaml",
      "tpack: 1\nmax_epoch: 2\nengine: {threads: 1, algorithm: heuristic}\ndata:\n  train: [ImageFolder: " +
          (folder_ / "photos") +
          ", AugmentImageComponent: [{Resize: 24}], BatchData: 8, MixUp: {alpha: 1}]\n  validation: "
          "[ImageFolder: " +
          (folder_ / "photos") +
          ", AugmentImageComponent: [{Resize: 24}], BatchData: {batch_size: 8, remainder: true}]\n"
          "model:\n  layers: [Normalize: {input: image}, GlobalAvgPooling, FullyConnected: {name: logits, "
          "units: "
          "2}]\n  cost: [SoftmaxCrossEntropy: {logits: logits, labels: label, class_weights: balanced}]\n"
          "  metrics: [Accuracy: {logits: logits, labels: label}, F1: {logits: logits, labels: label}]\n"
          "optimizer: {Adam: {learning_rate: 0.01}}\n"
          "callbacks: [ModelSaver, InferenceRunner: {data: validation}]\n"
          "predict: {data: validation, outputs: {probability: {Softmax: logits}}}\n");
  exits(0, tpack({"train", folder_ / "mixed.yaml", "--log-dir", folder_ / "mixed"}));
  const nlohmann::json statistics = nlohmann::json::parse(content_of(folder_ / "mixed/stats.json")).back();
  EXPECT_TRUE(statistics.contains("validation_accuracy"));
  EXPECT_TRUE(statistics.contains("f1"));
  exits(0, tpack({"eval", folder_ / "mixed/checkpoints/model-6.h5", "--data", "train", "--json"}));
}

TEST_F(Pictures, get_larger_and_numbers_of_them) {
  const std::string out = predictions(
      "ImageFolder: " + (folder_ / "photos"),
      "AugmentImageComponent: [{RandomCrop: 24}, Flip], Compute: {target: image}, AugmentImageComponent: "
      "[{Resize: 12}]",
      "image: {shape: [12, 12, 3], dtype: uint8, layout: HWC}, target: {shape: [24, 24, 3], dtype: uint8, "
      "layout: HWC}",
      "Normalize: {name: sharp, input: target}, Normalize: {input: image}, Conv2D: {filters: 12}, "
      "PixelShuffle: "
      "{name: large, factor: 2}",
      "  cost: [MeanAbsoluteError: {predictions: large, targets: sharp}]\n"
      "  metrics: [PSNR: {predictions: large, targets: sharp, data_range: 1}, SSIM: {predictions: large, "
      "targets: "
      "sharp, data_range: 1}]\n"
      "predict: {data: validation, outputs: {mean: {ReduceMean: {input: large, axes: [1, 2, 3]}}}}\n");
  EXPECT_THAT(out, HasSubstr("validation_psnr"));
}

/// Of a source with two images, and of the stage, `infer` reads a file as each image that a map needs.
TEST_F(Pictures, are_embedded_by_a_siamese_network) {
  const std::string folder = "ImageFolder: " + (folder_ / "photos");
  for (const std::string& source :
       {folder + ", PairData: label", "JoinData: [[" + folder + "], [" + folder + "]]"}) {
    const std::string out = predictions(
        source, "AugmentImageComponents: [{Resize: 24}], Compute: {same: label == label_2}",
        std::string(kImage) +
            ", image_2: {shape: [24, 24, 3], dtype: uint8, layout: HWC}, same: {shape: [], dtype: bool}",
        "Normalize: {name: a, input: image, scale: 0.01}, GlobalAvgPooling: {name: left}, Normalize: {name: "
        "b, input: "
        "image_2, scale: 0.01}, GlobalAvgPooling: {name: right}, FullyConnected: {name: embedding, input: "
        "left, units: "
        "2}, FullyConnected: {name: other, input: right, units: 2}",
        "  cost: [ContrastiveLoss: {embeddings: [embedding, other], same: same}]\n"
        "predict: {data: validation, outputs: [embedding]}\n");
    EXPECT_THAT(out, HasSubstr("0.png,")) << source;
    std::filesystem::remove_all(folder_ / "run");
  }
}

}  // namespace
}  // namespace tpack
