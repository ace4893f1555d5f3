#include "sources/mask_file.h"

#include <filesystem>

#include <opencv2/core.hpp>

#include "dataflow/pair_files.h"
#include "dataflow/tiff_writer.h"
#include "draw/png.h"
#include "image/format/image_formats.h"

namespace tpack {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using MaskFile = ImagePairsTest;

/// As programs for microscopy store labels.
TEST_F(MaskFile, have_masks_of_more_than_8_bits) {
  folder_.write("image/a.jpg", encode_jpeg(photo(3, 2)));
  const auto mask_of = [&](auto type, size_t format, const std::vector<int>& classes) {
    std::string bytes;
    for (const int value : classes) {
      const auto stored = static_cast<decltype(type)>(value);
      bytes.append(reinterpret_cast<const char*>(&stored), sizeof stored);
    }
    write_mask("a.tif",
               encode_tiff({.width = 3, .height = 2, .bits = 8 * sizeof type, .format = format}, {bytes}));
    return mask(", classes: [a, b, c]");
  };
  const std::vector<int> classes = {0, 1, 2, 2, 0, 1};
  EXPECT_EQ(mask_of(uint16_t{}, 1, classes), classes);
  EXPECT_EQ(mask_of(int16_t{}, 2, classes), classes);
  EXPECT_EQ(mask_of(uint32_t{}, 1, classes), classes);
  EXPECT_EQ(mask_of(int32_t{}, 2, classes), classes);
  EXPECT_EQ(mask_of(float{}, 3, classes), classes);
  EXPECT_EQ(mask_of(double{}, 3, classes), classes);
  EXPECT_THROW(mask_of(uint16_t{}, 1, {0, 1, 2, 3, 0, 1}), SampleError);
  EXPECT_TRUE(says(error(", classes: [a, b, c]"), {"value 3 at (0, 1)", "not one of the 3"}));
  EXPECT_THROW(mask_of(uint16_t{}, 1, {0, 1, 256, 0, 0, 1}), SampleError);
  EXPECT_TRUE(says(error(", classes: [a, b, c]"), {"value 256 at (2, 0)", "whole numbers"}));
  EXPECT_THROW(mask_of(int32_t{}, 2, {0, -1, 1, 0, 0, 1}), SampleError);

  cv::Mat deep(2, 3, CV_16UC1, cv::Scalar::all(0));
  deep.at<uint16_t>(1, 2) = 65535;
  std::filesystem::remove(folder_.path("mask/a.tif"));
  folder_.write("mask/a.png", encode_deep_png(deep));
  EXPECT_THAT(mask(), ElementsAre(0, 0, 0, 0, 0, 1)) << "black and white";
}

TEST_F(MaskFile, have_one_second_class) {
  write("a", {0, 1, 255, 0, 0, 1});
  EXPECT_TRUE(says(error(), {"both 1 and 255", "ignore: 255", "ignore_label: 255"}));
  EXPECT_THAT(mask(", ignore: 255"), ElementsAre(0, 1, 255, 0, 0, 1));
  EXPECT_THAT(mask(", threshold: 1"), ElementsAre(0, 1, 1, 0, 0, 1));
}

TEST_F(MaskFile, of_pictures_that_are_turned_have_masks_that_are) {
  folder_.write("image/a.jpg", with_orientation(encode_jpeg(photo(3, 2)), 6, true));
  folder_.write("mask/a.png", gray_png({0, 1, 1, 0, 0, 1}, 3));
  EXPECT_TRUE(says(error(), {"3x2 pixels, but its image has 2x3", "Exif", "upright: false"}));
  EXPECT_THAT(mask(", upright: false"), ElementsAre(0, 1, 1, 0, 0, 1));
  folder_.write("mask/a.png", with_orientation(gray_png({0, 1, 1, 0, 0, 1}, 3), 6, true));
  EXPECT_THAT(mask(), ElementsAre(0, 0, 0, 1, 1, 1)) << "turned to the right, as the image is";
  EXPECT_THAT(mask(", upright: false"), ElementsAre(0, 1, 1, 0, 0, 1));
}

TEST_F(MaskFile, of_pictures_that_are_turned_are_spoken_of) {
  folder_.write("image/a.jpg", with_orientation(encode_jpeg(photo(3, 2)), 3, true));
  folder_.write("mask/a.png", gray_png({0, 1, 1, 0, 0, 1}, 3));
  const auto remarks = [&](const std::string& more) {
    const DataFlow flow = folder_.flow("[{ImagePairs: " + source(more) + "}]");
    flow.prepare();
    return remarks_of(flow);
  };
  EXPECT_TRUE(says(remarks("").at(0), {"a.jpg are turned upright", "'masks'", "upright: false"}));
  EXPECT_THAT(remarks(", upright: false"), testing::IsEmpty());
}

/// Gray of dark blue is 15, which may be the number of another class.
TEST_F(MaskFile, of_other_formats_with_colors_need_them) {
  folder_.write("image/a.jpg", encode_jpeg(photo(3, 2)));
  std::string bmp = {'B', 'M', 78, 0, 0, 0, 0, 0, 0, 0, 54, 0, 0, 0,  40,
                     0,   0,   0,  3, 0, 0, 0, 2, 0, 0, 0,  1, 0, 24, 0};
  bmp.resize(54);
  for (int i = 0; i < 2; ++i) bmp += std::string{'\x80', 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};
  write_mask("a.bmp", bmp);
  std::string classes = ", classes: [c0";
  for (int i = 1; i < 20; ++i) classes += ", c" + std::to_string(i);
  EXPECT_THAT(error(classes + "]"), HasSubstr("is a mask with colors; set the color of each class"));
  EXPECT_THAT(mask(", colors: [[0, 0, 0], [0, 0, 128]]"), ElementsAre(1, 0, 0, 1, 0, 0));
}

/// Programs that count colors may put white first.
TEST_F(MaskFile, have_no_palettes_that_invert_black_and_white) {
  folder_.write("image/a.jpg", encode_jpeg(photo(3, 2)));
  const std::vector<RgbColor> white_first = {{255, 255, 254}, {0, 0, 0}};
  Tensor places = Tensor::zeros({DType::kUInt8, {2, 3}});
  places.data<uint8_t>()[1] = 1;
  write_mask("a.png", encode_palette_png(places, white_first));
  EXPECT_TRUE(says(error(), {"white as class 0", "colors: [[0, 0, 0], [255, 255, 254]]"}));
  EXPECT_THAT(mask(", colors: [[0, 0, 0], [255, 255, 254]]"), ElementsAre(1, 0, 1, 1, 1, 1));
  write_mask("a.png", encode_palette_png(places, std::vector<RgbColor>{{0, 0, 0}, {255, 255, 255}}));
  EXPECT_THAT(mask(), ElementsAre(0, 1, 0, 0, 0, 0));
}

/// A palette's places are the classes, not its colors.
TEST(PngValues, of_a_palette_are_its_places) {
  // 2x1 pixels, 1 bit, palette of red and blue: places 1 and 0.
  const Bytes png = {0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0x00, 0x00, 0x00, 0x0d, 0x49, 0x48, 0x44,
                     0x52, 0x00, 0x00, 0x00, 0x02, 0x00, 0x00, 0x00, 0x01, 0x01, 0x03, 0x00, 0x00, 0x00, 0xce,
                     0xec, 0xed, 0xc9, 0x00, 0x00, 0x00, 0x06, 0x50, 0x4c, 0x54, 0x45, 0xff, 0x00, 0x00, 0x00,
                     0x00, 0xff, 0x6c, 0xa1, 0xfd, 0x8e, 0x00, 0x00, 0x00, 0x0a, 0x49, 0x44, 0x41, 0x54, 0x78,
                     0x9c, 0x63, 0x68, 0x00, 0x00, 0x00, 0x82, 0x00, 0x81, 0x77, 0xcd, 0x72, 0xb6, 0x00, 0x00,
                     0x00, 0x00, 0x49, 0x45, 0x4e, 0x44, 0xae, 0x42, 0x60, 0x82};
  cv::Mat values;
  read_png_values(png, values);
  ASSERT_EQ(values.type(), CV_8UC1);
  EXPECT_EQ(values.at<uint8_t>(0, 0), 1);
  EXPECT_EQ(values.at<uint8_t>(0, 1), 0);
}

}  // namespace
}  // namespace tpack
