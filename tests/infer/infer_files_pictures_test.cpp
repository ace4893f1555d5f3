// Runs `tpack infer` on models that give images or masks.
#include <filesystem>

#include <gmock/gmock-matchers.h>
#include <nlohmann/json.hpp>

#include "dataflow/tiff_writer.h"
#include "draw/png.h"
#include "infer/infer_runs.h"
#include "support/program_runner.h"

namespace tpack {
namespace {

using nlohmann::json;
using testing_cli::Outcome;

class InferPictures : public InferRuns {
 protected:
  /// Two black photographs with masks of class 0.
  void write_pairs(int64_t height, int64_t width) {
    for (const char* const name : {"photos/a.png", "photos/b.png", "masks/a.png", "masks/b.png"}) {
      std::filesystem::create_directories(std::filesystem::path(folder_ / name).parent_path());
      write_content(folder_ / name,
                    encode_png(Tensor::zeros({DType::kUInt8, Shape{height, width, 3}})).at(0).png);
    }
  }
};

/// Outputs that are images become PNG files whose pixels are the values.
TEST_F(InferPictures, draws_pictures) {
  train("{FakeData: {shapes: [[2, 3, 3]], dtype: [uint8], names: [image], size: 8, domain: [0, 255]}}",
        "model:\n  inputs: {image: {shape: [2, 3, 3], dtype: uint8, layout: HWC}}\n"
        "  layers:\n    - Normalize: {name: pixels, scale: 0.00392156862745098, offset: 0}\n"
        "    - Conv2D: {name: conv, filters: 3, kernel: 1}\n"
        "    - FullyConnected: {name: fc, units: 18}\n"
        "    - Reshape: {name: target, input: pixels, shape: [18]}\n"
        "  cost: [SigmoidCrossEntropy: {logits: fc, labels: target}]\n"
        "predict: {data: train, outputs: {flat: {Sigmoid: fc}, same: {Normalize: {input: pixels, scale: 255, "
        "offset: 0}}, unit: pixels, dark: {output: pixels, range: [0, 2]}, t: {Tanh: conv}}}\n");
  Tensor image = Tensor::zeros({DType::kUInt8, {2, 3, 3}});
  for (int64_t i = 0; i < image.elements(); ++i) image.data<uint8_t>()[i] = static_cast<uint8_t>(13 * i);
  write_content(folder_ / "in.png", encode_png(image).at(0).png);
  const Outcome values = infer({folder_ / "in.png"});
  ASSERT_EQ(values.code, 0) << values.err;
  const json numbers = json::parse(values.out).at("outputs");
  const Outcome outcome = infer({folder_ / "in.png", "--images", folder_ / "images"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const json paths = json::parse(outcome.out).at("outputs");
  EXPECT_EQ(paths.at("flat"), folder_ / "images/000-in-flat.png");
  const auto pixels = [&](const char* output) {
    const std::string file = content_of(paths.at(output).get<std::string>());
    Datapoint d;
    Image& picture = d.renew_image(0);
    std::copy(file.begin(), file.end(), picture.encoded_buffer(file.size()).begin());
    picture.header_known({Color::kRgb});
    return d.to_tensor(0).clone();
  };
  EXPECT_EQ(max_difference(pixels("same"), image), 0) << "the picture that went in";
  EXPECT_EQ(max_difference(pixels("unit"), image), 0) << "found to be in [0, 1]";
  for (int64_t i = 0; i < image.elements(); ++i)
    EXPECT_NEAR(pixels("dark").at(i), image.at(i) / 2, 0.51) << "half of the given range";
  EXPECT_THAT(outcome.err,
              testing::AllOf(testing::HasSubstr("output 'unit': black and white are drawn for [0, 1]"),
                             testing::HasSubstr("output 'same': black and white are drawn for [0, 255]"),
                             testing::Not(testing::HasSubstr("output 'dark'")),
                             testing::Not(testing::HasSubstr("output 't'"))));
  const Tensor flat = pixels("flat");
  const Tensor t = pixels("t");
  for (size_t y = 0; y < 2; ++y) {
    for (size_t x = 0; x < 3; ++x) {
      for (size_t c = 0; c < 3; ++c) {  // channel, row, column
        const auto at = static_cast<int64_t>(y * 9 + x * 3 + c);
        EXPECT_NEAR(flat.at(at), 255 * numbers.at("flat")[c * 6 + y * 3 + x].get<double>(), 0.51);
        EXPECT_NEAR(t.at(at), 127.5 * (numbers.at("t")[c][y][x].get<double>() + 1), 0.51);
      }
    }
  }
}

/// Files are read with the frames of the flow's source.
TEST_F(InferPictures, reads_frames) {
  const std::string clip = encode_tiff({}, {"ab", "cd", "ef", "gh"});
  std::filesystem::create_directories(folder_ / "clips/a");
  for (const char* name : {"clips/a/1.tif", "clips/a/2.tif"}) write_content(folder_ / name, clip);
  train("{ImageFolder: {dir: clips, color: gray, frames: 2}}, {AugmentImageComponent: [{Resize: [1, 2]}]}",
        "model:\n  inputs: {image: {shape: [1, 2, 2], dtype: uint8, layout: HWC}, label: {shape: [], dtype: "
        "int32}}\n"
        "  layers: [Normalize: {name: same, scale: 1, offset: 0}, FullyConnected: {name: fc, units: 2}]\n"
        "  cost: [SoftmaxCrossEntropy: {logits: fc, labels: label}]\n"
        "predict: {data: train, outputs: {same: same}}\n");
  const Outcome outcome = infer({folder_ / "clips/a/1.tif"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(json::parse(outcome.out).at("outputs").at("same"), json::parse("[[[97, 98]], [[101, 102]]]"));
}

/// Classes of pixels become PNGs with a palette, and with --overlays pictures of both.
TEST_F(InferPictures, draws_masks) {
  train("{RenderedShapes: {size: 8, resolution: 16}}",
        "model:\n  inputs: {image: {shape: [16, 16, 3], dtype: uint8, layout: HWC}, mask: {shape: [16, 16], "
        "dtype: uint8}}\n"
        "  layers: [Normalize: {scale: 0.01, offset: -1}, Conv2D: {name: fc, filters: 4, kernel: 1}]\n"
        "  cost: [SoftmaxCrossEntropy: {logits: fc, labels: mask}]\n"
        "predict: {data: train, outputs: {mask: {ArgMax: {input: fc, axis: 1}}}}\n");
  Tensor image(DType::kUInt8, {16, 16, 3});
  for (int64_t i = 0; i < image.elements(); ++i) image.data<uint8_t>()[i] = static_cast<uint8_t>(i % 251);
  write_content(folder_ / "in.png", encode_png(image).at(0).png);
  const Outcome values = infer({folder_ / "in.png"});
  ASSERT_EQ(values.code, 0) << values.err;
  const json classes = json::parse(values.out).at("outputs").at("mask");
  const Outcome outcome = infer({folder_ / "in.png", "--images", folder_ / "images", "--overlays"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const Tensor mask = pixels_of(folder_ / "images/000-in-mask.png");
  const Tensor overlay = pixels_of(folder_ / "images/000-in-mask-overlay.png");
  const std::vector<RgbColor> colors = class_colors(4);
  EXPECT_EQ(colors[3], (RgbColor{128, 128, 0}));
  for (size_t p = 0; p < 256; ++p) {
    const auto of_class = classes[p / 16][p % 16].get<size_t>();
    for (size_t c = 0; c < 3; ++c) {
      const auto at = static_cast<int64_t>(p * 3 + c);
      ASSERT_EQ(mask.at(at), colors.at(of_class).at(c));
      const double own = image.at(at);
      ASSERT_NEAR(overlay.at(at), of_class == 0 ? own : (own + colors.at(of_class).at(c)) / 2, 0.51);
    }
  }
  EXPECT_THAT(outcome.err, testing::Not(testing::HasSubstr("sees only a part")));
  const Outcome without = infer({folder_ / "in.png", "--overlays"});
  EXPECT_EQ(without.code, 2);
  EXPECT_THAT(without.err, testing::HasSubstr("--images is missing"));
}

/// Probabilities of one class are gray pictures, and with --overlays or --contours a mask by the threshold.
TEST_F(InferPictures, draws_a_mask_of_probabilities) {
  write_pairs(8, 8);
  train("{ImagePairs: {images: photos, masks: masks}}, {AugmentImageComponent: [{Resize: 8}]}",
        "model:\n  inputs: {image: {shape: [8, 8, 3], dtype: uint8, layout: HWC}, mask: {shape: [8, 8], "
        "dtype: uint8}}\n"
        "  layers: [Normalize: {scale: 0.01, offset: -1}, Conv2D: {name: fc, filters: 1, kernel: 1}]\n"
        "  cost: [SigmoidCrossEntropy: {logits: fc, labels: mask}]\n"
        "predict: {data: train, outputs: {cell: {Sigmoid: fc}}}\n");
  Tensor image(DType::kUInt8, {8, 8, 3});
  for (int64_t i = 0; i < image.elements(); ++i) image.data<uint8_t>()[i] = static_cast<uint8_t>(i % 251);
  write_content(folder_ / "in.png", encode_png(image).at(0).png);
  const Outcome values = infer({folder_ / "in.png"});
  ASSERT_EQ(values.code, 0) << values.err;
  const json probabilities = json::parse(values.out).at("outputs").at("cell")[0];
  std::vector<double> sorted;
  for (const json& row : probabilities)
    for (const json& one : row) sorted.push_back(one.get<double>());
  std::sort(sorted.begin(), sorted.end());
  const double middle = (sorted[31] + sorted[32]) / 2;
  const Outcome gray = infer({folder_ / "in.png", "--images", folder_ / "images"});
  ASSERT_EQ(gray.code, 0) << gray.err;
  const std::string file = folder_ / "images/000-in-cell.png";
  EXPECT_NEAR(pixels_of(file).at(0), 255 * probabilities[0][0].get<double>(), 0.51);
  const Outcome masked = infer({folder_ / "in.png", "--images", folder_ / "images", "--overlays",
                                "--contours", "--threshold", std::to_string(middle)});
  ASSERT_EQ(masked.code, 0) << masked.err;
  const Tensor mask = pixels_of(file);
  int64_t held = 0;
  for (size_t p = 0; p < 64; ++p) {
    const bool holds = probabilities[p / 8][p % 8].get<double>() >= middle;
    held += holds ? 1 : 0;
    ASSERT_EQ(mask.at(static_cast<int64_t>(p) * 3), holds ? class_colors(2)[1][0] : 0);
  }
  EXPECT_EQ(held, 32);
  EXPECT_TRUE(std::filesystem::exists(folder_ / "images/000-in-cell-overlay.png"));
  int64_t inside = 0;
  const json contours = json::parse(content_of(folder_ / "images/000-in-cell.json"));
  for (const json& area : contours.at("areas")) inside += area.at("pixels").get<int64_t>();
  EXPECT_EQ(inside, 32);
  const Outcome alone = infer({folder_ / "in.png", "--images", folder_ / "images", "--threshold", "0.25"});
  EXPECT_EQ(alone.code, 2);
  EXPECT_THAT(alone.err, testing::HasSubstr("(with --overlays or --contours) probabilities of pixels"));
}

/// A picture that is resized for the model gets a mask of its own size; of one that is cut, the rest has
/// class 0.
TEST_F(InferPictures, draws_masks_of_the_size_of_the_picture) {
  write_pairs(20, 30);
  const auto train_with = [&](const std::string& map, const std::string& source) {
    std::filesystem::remove_all(folder_ / "run");
    train(
        source + ", {AugmentImageComponent: [" + map + "]}",
        "model:\n  inputs: {image: {shape: [16, 16, 3], dtype: uint8, layout: HWC}, mask: {shape: [16, 16], "
        "dtype: uint8}}\n"
        "  layers: [Normalize: {scale: 0.01, offset: -1}, Conv2D: {name: fc, filters: 4, kernel: 1}]\n"
        "  cost: [SoftmaxCrossEntropy: {logits: fc, labels: mask}]\n"
        "predict: {data: train, outputs: {mask: {ArgMax: {input: fc, axis: 1}}}}\n");
    Tensor image(DType::kUInt8, {32, 48, 3});
    for (int64_t i = 0; i < image.elements(); ++i)
      image.data<uint8_t>()[i] = i < image.elements() / 2 ? 0 : 255;
    write_content(folder_ / "in.png", encode_png(image).at(0).png);
    return infer({folder_ / "in.png", "--images", folder_ / "images", "--overlays", "--contours"});
  };
  const std::string pairs = "{ImagePairs: {images: photos, masks: masks}}";
  const Outcome resized = train_with("{Resize: 16}", pairs);
  ASSERT_EQ(resized.code, 0) << resized.err;
  EXPECT_EQ(pixels_of(folder_ / "images/000-in-mask.png").shape(), (Shape{32, 48, 3}));
  EXPECT_EQ(pixels_of(folder_ / "images/000-in-mask-overlay.png").shape(), (Shape{32, 48, 3}));
  const json contours = json::parse(content_of(folder_ / "images/000-in-mask.json"));
  EXPECT_EQ(contours.at("width"), 48);
  EXPECT_EQ(contours.at("height"), 32);
  EXPECT_THAT(resized.err, testing::Not(testing::HasSubstr("sees only a part")));
  // Those of a flow, too.
  const Outcome of_flow = infer({"--data", "train", "--images", folder_ / "of_flow", "--overlays"});
  ASSERT_EQ(of_flow.code, 0) << of_flow.err;
  for (const char* name : {"000-a-mask.png", "001-b-mask.png", "001-b-mask-overlay.png"})
    EXPECT_EQ(pixels_of(folder_ / ("of_flow/" + std::string(name))).shape(), (Shape{20, 30, 3})) << name;
  // A source that draws its masks knows their size; files have other ones.
  const Outcome drawn = train_with("{Resize: 16}", "{RenderedShapes: {size: 8, resolution: 20}}");
  ASSERT_EQ(drawn.code, 0) << drawn.err;
  EXPECT_EQ(pixels_of(folder_ / "images/000-in-mask.png").shape(), (Shape{32, 48, 3}));
  // Microscopes give 12 bits in files of 16.
  std::string deep;
  for (int i = 0; i < 20; ++i) {
    const int value = 200 * i;
    deep += {static_cast<char>(value % 256), static_cast<char>(value / 256)};
  }
  write_content(folder_ / "deep.tif", encode_tiff({.width = 5, .height = 4, .bits = 16}, {deep}));
  const Outcome of_deep = infer({folder_ / "deep.tif", "--images", folder_ / "images", "--overlays"});
  ASSERT_EQ(of_deep.code, 0) << of_deep.err;
  const Tensor over = pixels_of(folder_ / "images/000-deep-mask-overlay.png");
  const Tensor classes = pixels_of(folder_ / "images/000-deep-mask.png");
  for (int64_t i = 0; i < 20; ++i) {
    for (int64_t c = 0; c < 3; ++c) {
      const double own = 255.0 * static_cast<double>(i) / 19;
      const double color = classes.at(3 * i) + classes.at(3 * i + 1) + classes.at(3 * i + 2);
      EXPECT_NEAR(over.at(3 * i + c), color == 0 ? own : (own + classes.at(3 * i + c)) / 2, 1.01);
    }
  }
  const Outcome cut = train_with("{CenterCrop: 16}", pairs);
  ASSERT_EQ(cut.code, 0) << cut.err;
  EXPECT_EQ(pixels_of(folder_ / "images/000-in-mask.png").shape(), (Shape{32, 48, 3}));
  EXPECT_THAT(cut.err, testing::HasSubstr("sees only a part of them"));
}

/// A model of 8 x 8 pixels, which gives masks and images of twice the size.
class InferFullSize : public InferPictures {
 protected:
  void SetUp() override {
    write_pairs(20, 30);
    train(
        "{ImagePairs: {images: photos, masks: masks}}, {AugmentImageComponent: [{RandomCrop: 16}]}, "
        "{Compute: {target: image}}, {AugmentImageComponent: [{Resize: 8}, Flip]}",
        "model:\n  inputs: {image: {shape: [8, 8, 3], dtype: uint8, layout: HWC}, mask: {shape: [8, 8], "
        "dtype: "
        "uint8}, target: {shape: [16, 16, 3], dtype: uint8, layout: HWC}}\n"
        "  layers: [Normalize: {name: goal, input: target}, Normalize: {name: x, input: image}, "
        "Conv2D: {name: fc, filters: 2}, MaxPooling: {name: half, window: 2}, Conv2DTranspose: {name: up, "
        "filters: 2, kernel: 2, stride: 2}, Concat: {name: both, input: [fc, up]}, Conv2D: {name: twelve, "
        "filters: 12, kernel: 1}, PixelShuffle: {name: large, factor: 2}]\n"
        "  cost: [SoftmaxCrossEntropy: {logits: fc, labels: mask}, MeanSquaredError: {predictions: large, "
        "targets: goal}]\n"
        "predict: {data: train, outputs: {mask: {ArgMax: {input: fc, axis: 1}}, large: {output: large, "
        "range: "
        "[0, 1]}}}\n");
  }
  void write_image(const std::string& name, int64_t height, int64_t width) const {
    Tensor image(DType::kUInt8, {height, width, 3});
    for (int64_t i = 0; i < image.elements(); ++i)
      image.data<uint8_t>()[i] = static_cast<uint8_t>(i * 7 % 251);
    write_content(folder_ / name, encode_png(image).at(0).png);
  }
};

/// The flow's crops and resizes are left out, and the outputs are those of a model of that size.
TEST_F(InferFullSize, gives_what_a_model_of_that_size_gives) {
  write_image("in.png", 12, 20);
  const Outcome full = infer({folder_ / "in.png", "--full-size"});
  ASSERT_EQ(full.code, 0) << full.err;
  const Outcome of_size =
      infer({folder_ / "in.png", "--set", "model.inputs.image.shape=[12, 20, 3]", "--set",
             "model.inputs.mask.shape=[12, 20]", "--set", "model.inputs.target.shape=[24, 40, 3]", "--set",
             "predict.data=whole", "--set", "data.whole=[{ImagePairs: {images: photos, masks: masks}}]"});
  ASSERT_EQ(of_size.code, 0) << of_size.err;
  EXPECT_EQ(json::parse(full.out).at("outputs"), json::parse(of_size.out).at("outputs"));
  EXPECT_EQ(infer({folder_ / "in.png"}).code, 3) << "12 rows are too few for the crop of the flow";
}

TEST_F(InferFullSize, takes_pictures_of_any_sizes_in_turn) {
  write_image("a.png", 12, 20);
  write_image("b.png", 12, 20);
  write_image("c.png", 13, 20);  // which cannot be halved
  write_image("d.png", 6, 4);
  const Outcome outcome = infer({folder_ / "a.png", folder_ / "d.png", folder_ / "c.png", folder_ / "b.png",
                                 "--full-size", "--images", folder_ / "images", "--overlays", "--skip-bad"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(pixels_of(folder_ / "images/000-a-large.png").shape(), (Shape{24, 40, 3}));
  EXPECT_EQ(pixels_of(folder_ / "images/000-a-mask.png").shape(), (Shape{12, 20, 3}));
  EXPECT_EQ(pixels_of(folder_ / "images/001-d-large.png").shape(), (Shape{12, 8, 3}));
  EXPECT_EQ(pixels_of(folder_ / "images/003-b-large.png").shape(), (Shape{24, 40, 3}));
  EXPECT_TRUE(bit_equal(pixels_of(folder_ / "images/000-a-large.png"),
                        pixels_of(folder_ / "images/003-b-large.png")));
  EXPECT_THAT(outcome.err, testing::HasSubstr("c.png: "));
  EXPECT_THAT(outcome.err, testing::HasSubstr("must have a multiple of 2^k pixels"));
  EXPECT_EQ(infer({"--full-size", "--count", "2"}).code, 2);
}

}  // namespace
}  // namespace tpack
