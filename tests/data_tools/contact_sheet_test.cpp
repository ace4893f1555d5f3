#include "data_tools/contact_sheet.h"

#include <opencv2/core.hpp>

#include "config/yaml_reader.h"
#include "dataflow/flow_helpers.h"
#include "dataflow/golden_images.h"
#include "dataflow/test_images.h"
#include "draw/png.h"
#include "image/format/image_codec.h"
#include "image/format/image_formats.h"

namespace tpack {
namespace {

cv::Mat read_back(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  const std::vector<uint8_t> bytes((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  const ImageSize size = read_image_header(bytes);
  cv::Mat out;
  decode_png(bytes, {.region = {0, 0, size.width, size.height}}, 3, out);
  return out;
}

TEST(ContactSheet, shows_samples_in_a_grid_with_their_labels) {
  const TempFolder folder;
  const TempFolder pictures;
  cv::Mat red(8, 8, CV_8UC3, cv::Scalar(250, 0, 0));
  pictures.write("a/1.png", encode_png(red));
  pictures.write("b/2.png", encode_png(photo(300, 200)));
  const DataFlow flow =
      make_flow(list({item("ImageFolder", {{"dir", pictures.path()}, {"shuffle", false}})}));
  write_contact_sheet(flow, folder.path("sheet.png"), {.count = 2, .columns = 2, .tile_pixels = 40});
  const cv::Mat sheet = read_back(folder.path("sheet.png"));
  ASSERT_EQ(sheet.size(), cv::Size(2 * 44 + 4, 40 + 16 + 14 + 4));
  EXPECT_EQ(sheet.at<cv::Vec3b>(20, 20), cv::Vec3b(250, 0, 0));
  EXPECT_EQ(sheet.at<cv::Vec3b>(0, 0), cv::Vec3b(255, 255, 255));
  double darkest = 255;
  cv::minMaxLoc(sheet(cv::Rect(4, 45, 40, 14)).reshape(1), &darkest, nullptr);
  EXPECT_LT(darkest, 100) << "the label is drawn below";
}

TEST(ContactSheet, shows_transparent_pixels_as_white) {
  const TempFolder folder;
  const TempFolder pictures;
  cv::Mat icon(8, 8, CV_8UC4, cv::Scalar::all(0));
  icon(cv::Rect(0, 0, 4, 8)).setTo(cv::Scalar(200, 10, 0, 255));
  pictures.write("a/1.png", encode_png(icon));
  const DataFlow flow = make_flow(list({item("ImageFolder", {{"dir", pictures.path()}, {"color", "rgba"}})}));
  write_contact_sheet(flow, folder.path("sheet.png"), {.count = 1, .columns = 1, .tile_pixels = 40});
  const cv::Mat sheet = read_back(folder.path("sheet.png"));
  EXPECT_EQ(sheet.at<cv::Vec3b>(20, 10), cv::Vec3b(200, 10, 0));
  EXPECT_EQ(sheet.at<cv::Vec3b>(20, 40), cv::Vec3b(255, 255, 255));
}

/// The first and last row of a part of a sheet that have a pixel that is not white, starting at `begin`; {0,
/// -1} if there is none.
std::pair<int, int> next_block(const cv::Mat& part, int begin) {
  const auto white = [&part](int row) {
    return cv::countNonZero(part.row(row).clone().reshape(1, 1) < 250) == 0;
  };
  while (begin < part.rows && white(begin)) ++begin;
  int end = begin;
  while (end < part.rows && !white(end)) ++end;
  return begin == part.rows ? std::pair(0, -1) : std::pair(begin, end - 1);
}

TEST(ContactSheet, a_caption_is_nearer_to_its_own_picture_than_to_the_next) {
  const TempFolder folder;
  const TempFolder pictures;
  // Pictures that fill their tile, are enlarged by a whole factor, and are wide.
  const std::vector<cv::Size> sizes = {{96, 96}, {28, 28}, {90, 30}, {300, 100}};
  for (size_t i = 0; i < sizes.size(); ++i) {
    const cv::Mat gray(sizes[i], CV_8UC3, cv::Scalar::all(120));
    pictures.write("joggy/" + std::to_string(i) + ".png", encode_png(gray));
  }
  const DataFlow flow =
      make_flow(list({item("ImageFolder", {{"dir", pictures.path()}, {"shuffle", false}})}));
  write_contact_sheet(flow, folder.path("sheet.png"), {.count = 4, .columns = 1});
  const cv::Mat sheet = read_back(folder.path("sheet.png"));
  std::pair<int, int> picture = next_block(sheet, 0);
  for (size_t i = 0; i < sizes.size(); ++i) {
    const std::pair<int, int> caption = next_block(sheet, picture.second + 1);
    EXPECT_GE(caption.second - caption.first, 6) << "letters";
    EXPECT_LE(caption.second - caption.first, 14) << "letters alone";
    const std::pair<int, int> next = next_block(sheet, caption.second + 1);
    if (i + 1 == sizes.size()) {
      EXPECT_LT(next.second, next.first) << "nothing below the last caption";
      break;
    }
    EXPECT_LT(3 * (caption.first - picture.second), next.first - caption.second) << i;
    picture = next;
  }
}

TEST(ContactSheet, unpacks_batches_that_are_no_bytes) {
  const TempFolder folder;
  const DataFlow flow =
      make_flow(list({item("RenderedDigits", {{"split", "test"}}), item("BatchData", {{"batch_size", 5}}),
                      item("MapData", {{"map", item("Scale", {{"scale", 0.01}})}})}));
  write_contact_sheet(flow, folder.path("sheet.png"), {.count = 7, .columns = 4, .tile_pixels = 28});
  EXPECT_EQ(read_back(folder.path("sheet.png")).cols, 4 * 32 + 4);
}

TEST(ContactSheet, has_no_cells_that_stay_empty) {
  const TempFolder folder;
  const TempFolder pictures;
  for (int i = 0; i < 3; ++i) pictures.write("a/" + std::to_string(i) + ".png", encode_png(photo(8, 8)));
  const DataFlow flow = make_flow(list({item("ImageFolder", {{"dir", pictures.path()}})}));
  write_contact_sheet(flow, folder.path("few.png"), {.count = 20, .columns = 5, .tile_pixels = 40});
  EXPECT_EQ(read_back(folder.path("few.png")).size(), cv::Size(3 * 44 + 4, 40 + 16 + 14 + 4));
  write_contact_sheet(flow, folder.path("rows.png"), {.count = 20, .columns = 2, .tile_pixels = 40});
  EXPECT_EQ(read_back(folder.path("rows.png")).size(), cv::Size(2 * 44 + 4, 2 * (40 + 16 + 14) + 4));
}

/// Of several frames, the first.
TEST(ContactSheet, shows_clips) {
  const TempFolder folder;
  const TempFolder sheets;
  folder.write("a/clip.tif", std::ranges::find(golden_clips(), "tiff_pages", &GoldenClip::name)->file);
  const auto sheet = [&](const std::string& form) {
    const std::string path = sheets.path("sheet.png");
    write_contact_sheet(make_flow(parse_yaml("[ImageFolder: {dir: " + folder.path() + form + "}]", "a.yaml")),
                        path, {.count = 1, .columns = 1, .tile_pixels = 40});
    return read_back(path);
  };
  EXPECT_EQ(largest_difference(sheet(", frames: 2"), sheet("")), 0);
  EXPECT_EQ(largest_difference(sheet(", frames: 3, color: gray"), sheet(", color: gray")), 0);
}

TEST(ContactSheet, needs_an_image) {
  EXPECT_EQ(error_of([] { write_contact_sheet(make_flow(list({item("Counting", 2)})), "/tmp/never.png"); }),
            "a contact sheet needs an image; the datapoints have k int64 [], pass int64 []");
}

TEST(ContactSheet, draws_boxes_and_points_over_their_images) {
  CaptionedImage one{Tensor(DType::kUInt8, {48, 48, 3}), "boxes"};
  std::memset(one.image.raw(), 0, one.image.bytes());
  one.boxes = Tensor::of<float>({2, 5}, {10, 5, 40, 30, 2, 0, 0, 0, 0, -1});
  one.points = Tensor::of<float>({1, 2}, {24.5F, 40.5F});
  const TempFolder folder;
  write_image_sheet({one}, folder.path("sheet.png"));
  const cv::Mat sheet = read_back(folder.path("sheet.png"));
  // The tile of 96 pixels is twice as large, and 4 pixels from the edges.
  const auto at = [&](int x, int y) { return sheet.at<cv::Vec3b>(4 + 2 * y, 4 + 2 * x); };
  const std::vector<RgbColor> colors = class_colors(256);
  const auto rgb = [](const RgbColor& color) { return cv::Vec3b(color[0], color[1], color[2]); };
  EXPECT_EQ(at(10, 15), rgb(colors[3])) << "the left edge";
  EXPECT_EQ(at(25, 5), rgb(colors[3])) << "the upper edge";
  EXPECT_EQ(at(25, 15), cv::Vec3b(0, 0, 0)) << "inside";
  EXPECT_EQ(at(1, 1), cv::Vec3b(0, 0, 0)) << "a row without a box";
  EXPECT_EQ(sheet.at<cv::Vec3b>(4 + 81, 4 + 49), rgb(colors[1])) << "the point";
}

/// The colors of a legend are those of the boxes; long ones have several lines.
TEST(ContactSheet, names_the_classes_of_boxes_and_masks) {
  ComponentSpec image{"image", {DType::kUInt8, {8, 8, 3}}, true};
  ComponentSpec boxes{"boxes", {DType::kFloat32, {1, 5}}};
  boxes.annotation = Annotation::kBoxes;
  boxes.classes = {"cat", "dog"};
  const std::vector<RgbColor> colors = class_colors(256);
  EXPECT_EQ(legend_of(Spec({image, boxes})), (Legend{{colors[1], "cat"}, {colors[2], "dog"}}));
  ComponentSpec mask{"mask", {DType::kUInt8, {8, 8}}};
  mask.annotation = Annotation::kMask;
  mask.classes = {"background", "cell"};
  EXPECT_EQ(legend_of(Spec({image, mask, boxes})), (Legend{{colors[1], "cell"}}));
  EXPECT_TRUE(legend_of(Spec({image})).empty());

  const TempFolder folder;
  const CaptionedImage black{Tensor::zeros({DType::kUInt8, {96, 96, 3}}), ""};
  const auto sheet = [&](const Legend& legend) {
    write_image_sheet({black}, folder.path("sheet.png"), 1, legend);
    return read_back(folder.path("sheet.png"));
  };
  const int rows = sheet({}).rows;
  const cv::Mat short_one = sheet({{colors[1], "cat"}});
  ASSERT_EQ(short_one.rows, rows + 16);
  EXPECT_EQ(short_one.at<cv::Vec3b>(rows + 7, 8), cv::Vec3b(128, 0, 0));
  const cv::Mat long_one = sheet({{colors[1], "a long-haired cat"}, {colors[2], "a short-haired dog"}});
  ASSERT_EQ(long_one.rows, rows + 32);
  EXPECT_EQ(long_one.at<cv::Vec3b>(rows + 16 + 7, 8), cv::Vec3b(0, 128, 0));
}

/// Photographs are looked at, so their tiles are larger than those of digits.
TEST(ContactSheet, has_tiles_as_large_as_the_images) {
  const TempFolder folder;
  for (const auto& [side, tile] : {std::pair(28, 96), std::pair(150, 150), std::pair(500, 192)}) {
    write_image_sheet({{Tensor::zeros({DType::kUInt8, {side, side / 2, 3}}), ""}}, folder.path("sheet.png"));
    EXPECT_EQ(read_back(folder.path("sheet.png")).cols, tile + 8) << side;
  }
  EXPECT_EQ(error_of([&] { write_image_sheet({}, folder.path("none.png")); }),
            folder.path("none.png") + ": there is no sample to draw");
}

TEST(ContactSheet, draws_masks_over_their_images) {
  const TempFolder folder;
  const Tensor image = Tensor::zeros({DType::kUInt8, {10, 10, 3}});
  Tensor mask = Tensor::zeros({DType::kUInt8, {10, 10}});
  std::fill_n(mask.data<uint8_t>(), 50, uint8_t{1});  // the upper half is of class 1: dark red
  write_image_sheet({{image, "", mask}}, folder.path("sheet.png"), 1);
  const cv::Mat sheet = read_back(folder.path("sheet.png"));
  const int bottom = 4 + 96;
  EXPECT_EQ(sheet.at<cv::Vec3b>(bottom - 80, 10), cv::Vec3b(64, 0, 0)) << "half of (128, 0, 0)";
  EXPECT_EQ(sheet.at<cv::Vec3b>(bottom - 10, 10), cv::Vec3b(0, 0, 0));
}

}  // namespace
}  // namespace tpack
