#include <filesystem>

#include <opencv2/core.hpp>

#include "dataflow/flow_helpers.h"
#include "dataflow/mat_writer.h"
#include "dataflow/pair_files.h"
#include "dataflow/test_images.h"
#include "dataflow/tiff_writer.h"
#include "image/format/image_formats.h"
#include "support/live_fields.h"
#include "support/temporary_folder.h"

namespace tpack {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using ImagePairs = ImagePairsTest;

TEST_F(ImagePairs, have_class_numbers_for_pixels) {
  write("a", {0, 1, 1, 0, 0, 1});
  EXPECT_THAT(mask(), ElementsAre(0, 1, 1, 0, 0, 1));
  write("a", {0, 255, 255, 0, 0, 255});
  EXPECT_THAT(mask(), ElementsAre(0, 1, 1, 0, 0, 1)) << "black and white";
  write("a", {0, 1, 2, 2, 255, 0});
  EXPECT_THAT(mask(", classes: [a, b, c], ignore: 255"), ElementsAre(0, 1, 2, 2, 255, 0));
  EXPECT_THAT(mask(", classes: [a, b, c], ignore: 255"), testing::Not(testing::Contains(3)));
}

TEST_F(ImagePairs, may_be_in_one_folder_with_a_suffix) {
  folder_.write("image/a.jpg", encode_jpeg(photo(3, 2)));
  folder_.write("image/a_mask.png", gray_png({0, 1, 1, 0, 0, 1}, 3));
  const DataFlow flow = folder_.flow("[{ImagePairs: {images: image, masks: image/, suffix: _mask}}]");
  Datapoint d = first_sample(flow);
  EXPECT_EQ(d.tensor(1).at(1), 1);
  EXPECT_EQ(flow.size(), 1);
}

TEST_F(ImagePairs, have_a_folder_of_masks_for_each_class) {
  folder_.write("image/a.jpg", encode_jpeg(photo(3, 2)));
  folder_.write("image/b.jpg", encode_jpeg(photo(3, 2)));
  folder_.write("cells/a.png", gray_png({255, 255, 255, 0, 0, 0}, 3));
  folder_.write("borders/a.png", gray_png({0, 0, 1, 1, 0, 0}, 3));
  folder_.write("borders/b.png", gray_png({0, 0, 0, 0, 0, 255}, 3));
  const std::string masks = "masks: {cell: cells, border: borders}";
  const auto masks_of = [&](const std::string& more) {
    const DataFlow flow =
        folder_.flow("[{ImagePairs: {images: image, " + masks + more + ", shuffle: false}}]");
    flow.prepare();
    EXPECT_THAT(flow.spec()[1].classes, ElementsAre("background", "cell", "border"));
    return second_components(flow);
  };
  EXPECT_THAT(masks_of(""), ElementsAre(ElementsAre(1, 1, 2, 2, 0, 0), ElementsAre(0, 0, 0, 0, 0, 2)))
      << "the later class covers the earlier one, and b has no cells";
  for (const char* const more : {", classes: [a, b, c]", ", ignore: 255", ", colors: [[0, 0, 0], [1, 1, 1]]"})
    EXPECT_TRUE(fails([&] { masks_of(more); }, {"only to one mask for all classes"})) << more;
  folder_.write("image/c.jpg", encode_jpeg(photo(3, 2)));
  EXPECT_THAT(error_of([&] { masks_of(""); }), HasSubstr("no folder of 'masks' has a mask for c.jpg"));
  folder_.write("cells/c.png", gray_png({0, 0, 7, 0, 0, 0}, 3));
  EXPECT_TRUE(fails([&] { masks_of(""); }, {"cells/c.png: has the value 7 at (2, 0)", "only 0 and 1"}));
}

TEST_F(ImagePairs, may_have_gray_edges) {
  write("a", {0, 100, 127, 128, 200, 255});
  EXPECT_THAT(error(), HasSubstr("for black and white with gray edges, write threshold: 128"));
  EXPECT_THAT(mask(", threshold: 128"), ElementsAre(0, 0, 0, 1, 1, 1));
  EXPECT_TRUE(says(error(", threshold: 128, classes: [a, b, c]"), {"only to masks with two classes"}));
}

TEST_F(ImagePairs, may_have_gray_values_in_files_with_colors) {
  folder_.write("image/a.png", encode_png(photo(2, 1)));
  cv::Mat colors(1, 2, CV_8UC3);
  colors.at<cv::Vec3b>(0, 0) = {0, 0, 0};
  colors.at<cv::Vec3b>(0, 1) = {255, 255, 255};
  folder_.write("mask/a.png", encode_png(colors));
  EXPECT_THAT(mask(), ElementsAre(0, 1));
}

/// The right half is transparent.
TEST_F(ImagePairs, may_have_masks_in_their_transparency) {
  folder_.write("cut/a.png", half_transparent_png(4, 1));
  const auto values = [&](const std::string& more) {
    const DataFlow flow = folder_.flow("[{ImagePairs: {images: cut, masks: cut, alpha: true" + more + "}}]");
    return second_components(flow).at(0);
  };
  EXPECT_THAT(values(""), ElementsAre(1, 1, 0, 0));
  EXPECT_THAT(error_of([&] { values(", classes: [a, b, c]"); }), HasSubstr("'alpha' applies only to masks"));
  folder_.write("cut/a.png", gray_png({0, 1, 1, 0}, 4));
  EXPECT_THAT(error_of([&] { values(""); }), HasSubstr("a.png: has no transparency, but 'alpha' is set"));
}

/// An e with an accent as one character, and as two.
TEST_F(ImagePairs, are_found_whatever_the_form_of_accents) {
  folder_.write("image/caf\u00e9.jpg", encode_jpeg(photo(3, 2)));
  folder_.write("mask/cafe\u0301.png", gray_png({0, 1, 1, 0, 0, 1}, 3));
  EXPECT_THAT(mask(), ElementsAre(0, 1, 1, 0, 0, 1));
}

TEST_F(ImagePairs, name_the_pixel_that_is_no_class) {
  write("a", {0, 1, 1, 0, 7, 1});
  EXPECT_TRUE(says(error(), {"mask/a.png", "value 7 at (1, 1)", "2 classes", "write ignore: 7"}));
}

TEST_F(ImagePairs, read_colors) {
  folder_.write("image/a.png", encode_png(photo(2, 1)));
  cv::Mat colors(1, 2, CV_8UC3);
  colors.at<cv::Vec3b>(0, 0) = {128, 0, 0};
  colors.at<cv::Vec3b>(0, 1) = {0, 0, 0};
  folder_.write("mask/a.png", encode_png(colors));
  EXPECT_THAT(mask(", colors: [[0, 0, 0], [128, 0, 0]]"), ElementsAre(1, 0));
  EXPECT_THAT(error(", colors: [[0, 0, 0], [0, 0, 128]]"), HasSubstr("has the color [128, 0, 0] at (0, 0)"));
  EXPECT_THAT(error(), HasSubstr("is a mask with colors; set the color of each class"));
  EXPECT_THAT(error(", colors: [[0, 0, 0]]"), HasSubstr("'colors' has 1 colors for 2 classes"));
}

TEST_F(ImagePairs, are_found_by_name) {
  write("a", {0, 1, 1, 0, 0, 1});
  folder_.write("image/b.jpg", encode_jpeg(photo(3, 2)));
  EXPECT_THAT(error(), HasSubstr("has no mask for b.jpg (1 of 2 images)"));
  std::filesystem::remove(folder_.path("image/b.jpg"));
  std::filesystem::rename(folder_.path("mask/a.png"), folder_.path("mask/a_mask.png"));
  EXPECT_THAT(error(), HasSubstr("it has a_mask.png; for names such as 1_mask.png, set suffix: _mask"));
  EXPECT_THAT(mask(", suffix: _mask"), ElementsAre(0, 1, 1, 0, 0, 1));
}

TEST_F(ImagePairs, have_masks_of_the_size_of_the_image) {
  write("a", {0, 1, 1, 0, 0, 1, 0, 0, 0});
  EXPECT_THAT(error(), HasSubstr("is a mask of 3x3 pixels, but its image has 3x2"));
}

TEST_F(ImagePairs, have_masks_within_the_limit_of_their_images) {
  folder_.write("image/a.png", encode_png(photo(3, 2)));
  folder_.write("mask/a.png", encode_png(cv::Mat(1000, 1001, CV_8UC1, cv::Scalar(1))));
  EXPECT_THAT(error(), HasSubstr("is a mask of 1001x1000 pixels, but its image has 3x2"));
  EXPECT_TRUE(says(error(", max_megapixels: 1"), {"mask/a.png: ", "1001x1000 pixels", "at most 1 mega"}));
}

TEST_F(ImagePairs, need_something_that_belongs_to_the_image) {
  folder_.write("image/a.jpg", encode_jpeg(photo(3, 2)));
  EXPECT_TRUE(fails([&] { folder_.flow("[{ImagePairs: {images: image}}]"); }, {"set 'masks' or 'targets'"}));
}

/// The image is its own mask, so both must stay the same in whatever moves pixels.
TEST_F(ImagePairs, move_with_their_image) {
  Bytes values;
  for (int i = 0; i < 12 * 10; ++i) values.push_back(static_cast<uint8_t>(i * 7 % 200));
  std::string classes = "c0";
  for (int i = 1; i < 200; ++i) classes += ", c" + std::to_string(i);
  folder_.write("image/a.png", gray_png(values, 12));
  folder_.write("mask/a.png", gray_png(values, 12));
  for (const char* map : {"AugmentImageComponent", "AugmentImageComponents"}) {
    const DataFlow flow = folder_.flow(
        "[{ImagePairs: " + source(", color: gray, classes: [" + classes + "]") + "}, {" + map +
        ": [{RandomCrop: [6, 7]}, Flip, {Flip: {direction: vertical}}, {Resize: {shape: 5, interp: "
        "nearest}}]}]");
    EXPECT_EQ(flow.spec()[1].tensor.shape, (Shape{5, 5}));
    for (uint64_t seed = 0; seed < 20; ++seed) {
      Datapoint d = first_sample(flow, {.seed = seed});
      const Tensor image = d.to_tensor(0);
      ASSERT_EQ(d.tensor(1).shape(), (Shape{5, 5}));
      for (int64_t i = 0; i < 25; ++i) ASSERT_EQ(image.at(i), d.tensor(1).at(i)) << map << " " << seed;
    }
  }
}

TEST_F(ImagePairs, of_two_images_move_alike) {
  folder_.write("image/a.png", encode_png(photo(20, 14)));
  folder_.write("target/a.png", encode_png(photo(20, 14)));
  const DataFlow flow = folder_.flow(
      "[{ImagePairs: {images: image, targets: target}}, {AugmentImageComponents: [{RandomCrop: 8}, Flip]}]");
  Datapoint d = first_sample(flow, {.seed = 3});
  EXPECT_TRUE(bit_equal(d.to_tensor(0), d.to_tensor(1)));
}

/// BSDS500 has what several people drew.
class EdgeMaps : public ImagePairs {
 protected:
  EdgeMaps() { folder_.write("image/a.jpg", encode_jpeg(photo(3, 2))); }
  /// A mask in the folder of the images; `people`: their edges by rows.
  void write_edges(const Rows& people, const std::vector<int32_t>& shape = {2, 3}) const {
    Texts items;
    for (const Numbers& by_rows : people) {
      Numbers by_columns;
      for (size_t x = 0; x < 3; ++x)
        for (size_t y = 0; y < 2; ++y) by_columns.push_back(by_rows[3 * y + x]);
      items.push_back(mat_.structure("", {"Boundaries"}, {mat_.numbers("", shape, by_columns, true)}));
    }
    folder_.write("image/a.mat", mat_file({mat_.cell("groundTruth", items)}, true));
  }
  std::vector<int> edges(const std::string& more = "") const {
    const DataFlow flow = folder_.flow(
        "[{ImagePairs: {images: image, masks: image, classes: [background, edge]" + more + "}}]");
    return second_components(flow).at(0);
  }

  MatWriter mat_;
};

TEST_F(EdgeMaps, have_what_at_least_half_of_the_people_drew) {
  write_edges({{0, 1, 1, 0, 0, 1}, {0, 1, 0, 0, 1, 0}});
  EXPECT_THAT(edges(), ElementsAre(0, 1, 1, 0, 1, 1));
  write_edges({{0, 1, 1, 0, 0, 1}, {0, 1, 0, 0, 1, 0}, {0, 1, 0, 0, 1, 0}});
  EXPECT_THAT(edges(), ElementsAre(0, 1, 0, 0, 1, 0));
}

TEST_F(EdgeMaps, name_what_is_missing) {
  const auto error = [this](const std::string& more = "") { return error_of([&] { edges(more); }); };
  const auto other = [this](const std::string& variable) {
    folder_.write("image/a.mat", mat_file({variable}));
  };
  other(mat_.numbers("labels", {2, 1}, {1, 2}));
  EXPECT_TRUE(says(error(), {"a.mat: ", "'labels' double [2, 1]", "groundTruth", "Boundaries"}));
  other(mat_.cell("groundTruth", {mat_.structure("", {"Segmentation"}, {mat_.numbers("", {1, 1}, {1})})}));
  EXPECT_TRUE(says(error(), {"a.mat: ", "groundTruth has struct [1, 1] with Segmentation;"}));
  write_edges({{0, 1, 1, 0, 0, 1}}, {3, 2});
  EXPECT_THAT(error(), HasSubstr("is a mask of 2x3 pixels, but its image has 3x2"));
  EXPECT_THAT(error(", colors: [[0, 0, 0], [1, 1, 1]]"), HasSubstr("which has no colors; remove 'colors'"));
  folder_.write("image/a.mat", {1, 2, 3});
  EXPECT_THAT(error(), HasSubstr("a.mat: not a JPEG"));
}

/// The numbers are those that libmatio finds.
TEST_F(EdgeMaps, of_bsds500_are_read) {
  const char* const datasets = std::getenv("TPACK_DATASET");
  const std::string folder = datasets == nullptr ? "" : std::string(datasets) + "/bsds500/train";
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << "TPACK_DATASET has no bsds500/";
  const DataFlow flow = folder_.flow("[{ImagePairs: {images: " + folder + ", masks: " + folder +
                                     ", classes: [background, edge], shuffle: false}}]");
  const auto stream = flow.open({});
  Datapoint d;
  uint64_t hash = 0;
  int64_t edges = 0;
  int64_t images = 0;
  while (stream->next(d)) {
    const auto mask = d.tensor(1).span<uint8_t>();
    EXPECT_LT(std::ranges::count(mask, 1), std::ssize(mask) / 20) << "edges are rare";
    if (images++ > 0) continue;
    for (size_t i = 0; i < mask.size(); ++i) {
      edges += mask[i];
      hash = hash * 31 + mask[i] * (i + 1);
    }
  }
  EXPECT_EQ(images, flow.size());
  EXPECT_EQ(edges, 1405) << "100075.mat";
  EXPECT_EQ(hash, 7155809018756683078U);
}

std::string content_with_pairs(const std::string& item) {
  const TempFolder folder;
  const auto two = [&](const std::string& sub, int value) {
    for (const char* stem : {"a", "b"}) {
      folder.write(sub + "/" + stem + ".png", encode_png(cv::Mat(2, 3, CV_8UC3, cv::Scalar::all(value))));
      folder.write(sub + "/" + stem + "_x.png",
                   encode_png(cv::Mat(2, 3, CV_8UC3, cv::Scalar::all(value + 1))));
    }
  };
  two("photos", 40);
  two("other", 80);
  for (const char* stem : {"a", "b", "a_x", "b_x", "a_x_x", "b_x_x"}) {
    folder.write("masks/" + std::string(stem) + ".png",
                 gray_png({0, 1, 1, 0, 0, static_cast<uint8_t>(stem[1] != 0)}, 3));
    folder.write("colors/" + std::string(stem) + ".png",
                 encode_png(cv::Mat(2, 3, CV_8UC3, cv::Scalar(0, 0, 9))));
    folder.write("targets/" + std::string(stem) + ".png", encode_png(photo(3, 2)));
  }
  const std::string table = "photos,masks,targets,other\nother/a.png,masks/a.png,targets/a.png,other/a.png\n";
  folder.write_text("pairs.csv", table);
  folder.write_text("names.txt", "a\n");
  return content_of_flow("[" + item + "]", folder.path("flow.yaml"));
}

TEST_F(ImagePairs, of_a_table_may_have_a_column_for_each_class) {
  write("a", {0, 1, 1, 0, 0, 1});
  write("b", {1, 1, 0, 0, 0, 0});
  const std::string text = "photo,cell,border\nimage/a.jpg,mask/a.png,mask/b.png\nimage/b.jpg,,mask/b.png\n";
  folder_.write_text("pairs.csv", text);
  const DataFlow flow = folder_.flow(
      "[{ImagePairs: {list: pairs.csv, images: photo, masks: {c: cell, b: border}, shuffle: false}}]");
  const auto cursor = flow.open({});
  Datapoint d;
  ASSERT_TRUE(cursor->next(d));
  EXPECT_THAT(d.tensor(1).span<uint8_t>(), ElementsAre(2, 2, 1, 0, 0, 1));
  ASSERT_TRUE(cursor->next(d));
  EXPECT_THAT(d.tensor(1).span<uint8_t>(), ElementsAre(2, 2, 0, 0, 0, 0));
}

TEST_F(ImagePairs, may_be_listed_in_a_table) {
  write("a", {0, 1, 1, 0, 0, 1});
  write("b", {1, 1, 1, 1, 1, 1});
  const auto list = [&](const std::string& text) {
    folder_.write_text("pairs.csv", text);
    const std::string yaml = "[{ImagePairs: {list: pairs.csv, images: photo, masks: mask, shuffle: false}}]";
    const DataFlow flow = folder_.flow(yaml);
    Datapoint d;
    std::vector<int> first;
    const auto cursor = flow.open({});
    while (cursor->next(d)) first.push_back(d.tensor(1).data<uint8_t>()[0]);
    return first;
  };
  EXPECT_THAT(list("id,mask,photo\n1,mask/b.png,image/a.jpg\n2,mask/a.png,image/b.jpg\n"), ElementsAre(1, 0));
  expect_errors([&](const std::string& text) { list(text); },
                {{"mask,photo\nmask/b.png,image/c.jpg\n", {"are missing: image/c.jpg"}},
                 {"mask,photo\nmask/b.png,\n", {"pairs.csv:2: a path is missing"}},
                 {"mask,photo\n,image/a.jpg\n", {"pairs.csv:2: a path is missing"}},
                 {"mask,image\nmask/b.png,image/a.jpg\n", {"photo"}}});
}

/// A run that goes on reads what it read before.
TEST_F(ImagePairs, have_another_fingerprint_when_masks_or_targets_change) {
  write("a", {0, 1, 1, 0, 0, 1});
  folder_.write("target/a.jpg", encode_jpeg(photo(3, 2)));
  const auto fingerprint = [&] {
    return folder_.flow("[{ImagePairs: " + source(", targets: target") + "}]").fingerprint();
  };
  const std::string before = fingerprint();
  write("a", {0, 1, 1, 0, 0, 0});
  folder_.write("mask/a.png", {1, 2, 3});
  const std::string of_mask = fingerprint();
  EXPECT_NE(of_mask, before);
  folder_.write("target/a.jpg", {1, 2, 3});
  EXPECT_NE(fingerprint(), of_mask);
}

/// Frames are channels of the image alone.
TEST_F(ImagePairs, of_several_frames_have_one_target) {
  const std::string clip = encode_tiff({}, {"ab", "cd", "ef"});
  for (const std::string name : {"image/a.tif", "target/a.tif"}) folder_.write_text(name, clip);
  const DataFlow flow =
      folder_.flow("[{ImagePairs: {images: image, targets: target, frames: 3, color: gray}}]");
  Datapoint d = first_sample(flow);
  EXPECT_EQ(d.to_tensor(0).shape(), (Shape{1, 2, 3}));
  EXPECT_EQ(d.to_tensor(1).shape(), (Shape{1, 2, 1}));
  EXPECT_EQ(d.to_tensor(1).at(0), 'a');
}

TEST_F(ImagePairs, of_a_table_may_have_paths_of_windows) {
  write("a", {0, 1, 1, 0, 0, 1});
  write_content(folder_.path("pairs.csv"), "photo,mask\nimage\\a.jpg,mask\\a.png\n");
  const DataFlow flow = folder_.flow("[{ImagePairs: {list: pairs.csv, images: photo, masks: mask}}]");
  Datapoint d = first_sample(flow);
  EXPECT_EQ(d.tensor(1).at(1), 1);
}

/// The table may lie in the current folder, so that its paths are as they are written.
TEST_F(ImagePairs, of_a_table_may_have_empty_cells_for_absent_classes) {
  write("a", {0, 1, 1, 0, 0, 1});
  write("b", {1, 1, 1, 1, 1, 1});
  const std::filesystem::path before = std::filesystem::current_path();
  std::filesystem::current_path(folder_.path());
  write_content("pairs.csv", "photo,cell,border\nimage/a.jpg,mask/a.png,\nimage/b.jpg,,mask/b.png\n");
  EXPECT_THAT(second_components(yaml_flow("[{ImagePairs: {list: pairs.csv, images: photo, masks: {cell: "
                                          "cell, border: border}, shuffle: false}}]")),
              ElementsAre(ElementsAre(0, 1, 1, 0, 0, 1), ElementsAre(2, 2, 2, 2, 2, 2)));
  std::filesystem::current_path(before);
}

TEST_F(ImagePairs, may_be_chosen_by_a_list_of_names) {
  for (const char* name : {"a", "b", "c"}) write(name, {0, 1, 1, 0, 0, 1});
  write("c", {1, 1, 1, 1, 1, 1});
  write_content(folder_.path("names.txt"), "c\n");
  const std::string flow = "[ImagePairs: {images: image, masks: mask, only: names.txt}]";
  EXPECT_THAT(second_components(folder_.flow(flow)), ElementsAre(ElementsAre(1, 1, 1, 1, 1, 1)));
  write_content(folder_.path("names.txt"), "c\nd\n");
  EXPECT_TRUE(fails([&] { folder_.flow(flow).prepare(); }, {"names.txt: has d (1 of 2 names)"}));
  EXPECT_TRUE(
      fails([&] { folder_.flow("[ImagePairs: {list: t.csv, images: a, masks: b, only: names.txt}]"); },
            {"'only' applies only to folders"}));
}

const live::Fields kImagePairs(
    "source", "ImagePairs",
    {.base = "images: photos\nmasks: masks\nclasses: [a, b, c]",
     .values = {{"images", "other"},
                {"list", "pairs.csv"},
                {"masks", "~"},
                {"targets", "targets"},
                {"suffix", "_x"},
                {"only", "names.txt"},
                {"colors", "[[0, 0, 9], [0, 0, 8], [0, 0, 7]]"},
                {"ignore", "1"},
                {"threshold", "1"},
                {"depth", "16"}},
     .left_out = {{"background", "as of ImageFolder, whose test shows it"},
                  {"upright", "as of masks that are turned, in mask_file_test.cpp"},
                  {"classes", "names of the spec, and what values there may be, which tests above show"},
                  {"max_megapixels", "an error for larger masks, which a test above shows"}},
     .build = content_with_pairs});

}  // namespace
}  // namespace tpack
