#include <random>

#include <opencv2/imgproc.hpp>

#include "config/yaml_reader.h"
#include "core/text.h"
#include "dataflow/fitted_data.h"
#include "dataflow/flow_helpers.h"
#include "dataflow/test_images.h"
#include "sources/format/box_annotations.h"
#include "support/live_fields.h"

namespace tpack {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr const char* kCoco = R"({
  "categories": [{"id": 7, "name": "dog"}, {"id": 3, "name": "cat", "supercategory": ""}],
  "images": [{"id": 1, "file_name": "a.png", "width": 40, "height": 30}, {"id": 9, "file_name": "b.png"}],
  "annotations": [
    {"id": 1, "image_id": 1, "category_id": 7, "bbox": [4, 3, 20, 10], "segmentation": [[1, 2], [3, [4]]]},
    {"id": 2, "image_id": 1, "category_id": 3, "bbox": [30.5, 20, 20, 10], "iscrowd": 0},
    {"id": 3, "image_id": 1, "category_id": 3, "bbox": [0, 0, 40, 30], "iscrowd": 1},
    {"id": 4, "image_id": 9, "category_id": 3, "bbox": [0, 0, 0, 5]}]})";
constexpr const char* kVoc = R"(<annotation><filename>a.png</filename><size><width>40</width></size>
  <object><name>dog</name><difficult>0</difficult>
    <bndbox><xmin>5</xmin><ymin>4</ymin><xmax>24</xmax><ymax>13</ymax></bndbox></object>
  <object><name>cat</name><bndbox><xmin>31.5</xmin><ymin>21</ymin><xmax>40</xmax><ymax>30</ymax></bndbox></object>
  <object><name>cow</name><difficult>1</difficult>
    <bndbox><xmin>1</xmin><ymin>1</ymin><xmax>2</xmax><ymax>2</ymax></bndbox></object></annotation>)";
constexpr const char* kYolo =
    "1 0.35 0.266666667 0.5 0.333333333\n\n0 0.88125 0.8333333333 0.2375 0.3333333333\n";

/// Images a.png and b.png of 40 x 30 pixels, with boxes in all three forms.
class ImageBoxes : public testing::Test {
 protected:
  ImageBoxes() {
    for (const char* name : {"images/a.png", "images/b.png"}) folder_.write(name, encode_png(photo(40, 30)));
    write("coco.json", kCoco);
    write("voc/a.xml", kVoc);
    write("yolo/a.txt", kYolo);
    write("yolo/classes.txt", "cat\ndog\n");
  }
  void write(const std::string& name, const std::string& text) const { folder_.write_text(name, text); }
  DataFlow flow(const std::string& params, const std::string& maps = "",
                const std::shared_ptr<Fit>& fit = nullptr) const {
    return folder_.flow(
        "[ImageBoxes: {images: images, max_boxes: 3, shuffle: false, " + params + "}" + maps + "]", fit);
  }
  /// The rows of the first image that have a box.
  Texts boxes(const std::string& params, const std::string& maps = "") const {
    Datapoint d = first_sample(flow(params, maps));
    Texts rows;
    for (int64_t row = 0; row < 3; ++row) {
      std::string text;
      for (int64_t k = 0; k < 5; ++k)
        text += (k > 0 ? " " : "") + shortest(std::round(d.tensor(1).at(row * 5 + k) * 1000) / 1000);
      if (d.tensor(1).at(row * 5 + 4) >= 0)
        rows.push_back(text);
      else
        EXPECT_EQ(text, "0 0 0 0 -1");
    }
    return rows;
  }
  std::string error(const std::string& params) const {
    return error_of([&] { samples_of(flow(params)); });
  }

  TempFolder folder_;
};

TEST_F(ImageBoxes, of_all_forms_are_the_same) {
  const auto wanted = ElementsAre("4 3 24 13 1", "30.5 20 40 30 0");
  EXPECT_THAT(boxes("annotations: voc"), wanted);
  EXPECT_THAT(boxes("annotations: yolo, classes: [cat, dog]"), wanted);
  write("yolo/a.txt", std::string("\xEF\xBB\xBF") + kYolo);
  EXPECT_THAT(boxes("annotations: yolo, classes: [cat, dog]"), wanted) << "with a byte order mark";
  EXPECT_THAT(boxes("annotations: coco.json, classes: [cat, dog]"), wanted) << "one box is cut at the edge";
  EXPECT_THAT(boxes("annotations: coco.json"), wanted) << "categories are in the order of their ids";
  EXPECT_THAT(boxes("annotations: voc, difficult: true"),
              ElementsAre("4 3 24 13 2", "30.5 20 40 30 0", "0 0 2 2 1"));
  const DataFlow coco = flow("annotations: coco.json");
  coco.prepare();
  EXPECT_EQ(coco.spec().str(), "image uint8 [?, ?, 3], boxes float32 [3, 5]");
  EXPECT_THAT(coco.spec()[1].classes, ElementsAre("cat", "dog"));
  const SourceFacts facts = coco.sources()[0]->facts();
  EXPECT_EQ(facts.samples, 2);
  EXPECT_THAT(facts.remarks,
              ElementsAre(HasSubstr("1 boxes around groups"), HasSubstr("1 boxes without area")));
}

TEST_F(ImageBoxes, move_with_their_image) {
  EXPECT_THAT(boxes("annotations: voc", ", AugmentImageComponent: [Flip: {prob: 1}]"),
              ElementsAre("16 3 36 13 1", "0 20 9.5 30 0"));
  EXPECT_THAT(boxes("annotations: voc", ", AugmentImageComponent: [{Resize: [60, 80]}]"),
              ElementsAre("8 6 48 26 1", "61 40 80 60 0"));
  EXPECT_THAT(boxes("annotations: voc", ", AugmentImageComponent: [{CenterCrop: [20, 20]}]"),
              ElementsAre("0 0 14 8 1"))
      << "cut at the edges; of the second one half a pixel would be left";
  EXPECT_THAT(boxes("annotations: voc", ", AugmentImageComponent: [{CenterCrop: 4}]"), ElementsAre());
}

TEST_F(ImageBoxes, change_classes_in_a_mirror) {
  const std::string flip = ", AugmentImageComponent: [Flip: {prob: 1}]";
  EXPECT_THAT(boxes("annotations: voc, mirror_pairs: [[cat, dog]]", flip),
              ElementsAre("16 3 36 13 0", "0 20 9.5 30 1"));
  EXPECT_THAT(boxes("annotations: voc, mirror_pairs: [[cat, dog]]"),
              ElementsAre("4 3 24 13 1", "30.5 20 40 30 0"));
  EXPECT_THAT(error("annotations: voc, mirror_pairs: [[cat, dogs]]"), HasSubstr("did you mean 'dog'?"));
}

/// A box drawn into the image is around what is there afterwards.
TEST_F(ImageBoxes, are_around_the_pixels_of_their_objects) {
  cv::Mat image(60, 90, CV_8UC3, cv::Scalar::all(0));
  cv::rectangle(image, cv::Rect(20, 15, 30, 22), cv::Scalar::all(255), cv::FILLED);
  folder_.write("images/a.png", encode_png(image));
  write("coco.json", R"({"categories": [{"id": 1, "name": "x"}], "images": [{"id": 1, "file_name": "a.png"}],
    "annotations": [{"image_id": 1, "category_id": 1, "bbox": [20, 15, 30, 22]}]})");
  const DataFlow augmented = flow("annotations: coco.json", R"(, AugmentImageComponent: [
    {RandomResizedCrop: {shape: [50, 70], area: [0.5, 1]}}, Flip])");
  int seen = 0;
  for (uint64_t seed = 0; seed < 60; ++seed) {
    Datapoint d = first_sample(augmented, {.seed = seed});
    cv::Mat gray;
    cv::extractChannel(d.image(0).pixels(), gray, 0);
    const cv::Rect pixels = cv::boundingRect(gray > 127);
    const auto box = d.tensor(1).span<float>();
    if (pixels.empty()) continue;
    ++seen;
    EXPECT_NEAR(box[0], pixels.x, 1) << seed;
    EXPECT_NEAR(box[1], pixels.y, 1) << seed;
    EXPECT_NEAR(box[2], pixels.br().x, 1) << seed;
    EXPECT_NEAR(box[3], pixels.br().y, 1) << seed;
  }
  EXPECT_GT(seen, 50);
}

TEST_F(ImageBoxes, are_of_an_image_of_their_size) {
  const auto error_of_size = [&](int width, int height, const std::string& more) {
    folder_.write("images/a.png", encode_png(photo(width, height)));
    return error_of([&] { boxes(more); });
  };
  EXPECT_TRUE(says(error_of_size(20, 15, "annotations: coco.json"), {"a.png: ", "40x30", "20x15"}));
  EXPECT_THAT(error_of_size(30, 40, "annotations: coco.json"), HasSubstr("set upright: false in ImageBoxes"));
  EXPECT_THAT(error_of_size(20, 30, "annotations: voc"), HasSubstr("an image of 40x0 pixels"));
  EXPECT_EQ(error_of_size(20, 15, "annotations: yolo, classes: [cat, dog]"), "no error");
}

TEST_F(ImageBoxes, may_have_paths_of_windows) {
  std::string coco = kCoco;
  for (const char* name : {"a.png", "b.png"}) coco.replace(coco.find(name), 5, "sub\\\\" + std::string(name));
  for (const char* name : {"images/sub/a.png", "images/sub/b.png"})
    folder_.write(name, encode_png(photo(40, 30)));
  write("coco.json", coco);
  EXPECT_EQ(boxes("annotations: coco.json").size(), 2U);
}

TEST_F(ImageBoxes, have_the_classes_of_the_training_data) {
  const DataFlow train = flow("annotations: voc, difficult: true");  // cat, cow, dog
  const auto fit = std::make_shared<Fit>(train);
  const DataFlow validation = flow("annotations: coco.json", "", fit);
  validation.prepare();
  EXPECT_THAT(validation.spec()[1].classes, ElementsAre("cat", "cow", "dog"));
  Datapoint d = first_sample(validation);
  EXPECT_EQ(d.tensor(1).at(4), 2) << "dog";
  write("coco.json", std::string(kCoco).replace(std::string(kCoco).find("\"cat\""), 5, "\"car\""));
  EXPECT_TRUE(fails([&] { flow("annotations: coco.json", "", fit).prepare(); },
                    {"'car'; did you mean 'cat'?", "cat, cow, dog"}));
}

TEST_F(ImageBoxes, what_is_wrong_is_said) {
  const std::string yolo = "annotations: yolo, classes: [cat]";
  expect_errors([&](const std::string& params) { samples_of(flow(params)); },
                {{"annotations: yolo", {"set 'classes' to the names"}},
                 {yolo, {"a.txt:1: class 1", "from 0 to 0"}},
                 {"annotations: none", {"none"}},
                 {"annotations: images", {"no .xml files (Pascal VOC) and no .txt files (YOLO)"}}});
  const auto error_with = [&](const std::string& file, const std::string& text, const std::string& params) {
    write(file, text);
    return error(params);
  };
  EXPECT_TRUE(says(error_with("yolo/a.txt", "0 20 30 40 5\n", yolo), {"shares of its width and height"}));
  EXPECT_TRUE(says(error_with("yolo/a.txt", "0 0.5 0.5 0.1\n", yolo), {"is not `class x y width height`"}));
  const std::vector<std::tuple<std::string, std::string, Texts>> changes = {
      {"\"categories\"", "\"kinds\"", {"has no list 'categories'"}},
      {"\"categories\"", "[", {"is not JSON"}},
      {"\"b.png\"", "\"c.png\"", {"has no file c.png (1 of 2 images"}},
      {"\"category_id\": 7", "\"category_id\": 8", {"annotations[0]: ", "category_id"}},
      {"[4, 3, 20, 10]", "[4, 3, 20]", {"annotations[0]: 'bbox'", "[x, y, width, height]"}},
      {"[4, 3, 20, 10]", "[400, 3, 20, 10]", {"box 0 of dog", "40x30"}}};
  for (const auto& [from, to, parts] : changes) {
    const std::string coco = std::string(kCoco).replace(std::string(kCoco).find(from), from.size(), to);
    EXPECT_TRUE(says(error_with("coco.json", coco, "annotations: coco.json"), parts)) << to;
  }
  EXPECT_TRUE(
      fails([&] { folder_.flow("[ImageBoxes: {images: images, annotations: voc, max_boxes: 1}]").prepare(); },
            {"a.png has 2 boxes; set max_boxes"}));
  const std::string dog = "<annotation><object><name>dog</name></object></annotation>";
  EXPECT_TRUE(says(error_with("voc/a.xml", dog, "annotations: voc"), {"<bndbox> of 'dog'", "<xmin>"}));
  EXPECT_TRUE(says(error_with("voc/a.xml", "<annotation><object>", "annotations: voc"), {"is not XML"}));
}

TEST(CocoBoxes, parts_may_come_in_any_order_and_entries_are_checked) {
  const auto read = [](const std::string& annotations) {
    return read_coco_boxes(R"({"annotations": )" + annotations +
                               R"(, "images": [{"id": 5, "file_name": "a.png", "license": {"id": 9}}],
                               "categories": [{"id": 2, "name": "b"}, {"name": "a", "id": 1, "supercategory": {"name": "x"}}]})",
                           "c.json");
  };
  const BoxAnnotations all = read(
      R"([{"image_id": 5, "category_id": 2, "bbox": [1, 2, 3, 4], "segmentation": [[1, 2], {"bbox": [9]}], "id": 1e30}])");
  EXPECT_EQ(all.classes, (Texts{"a", "b"}));
  ASSERT_EQ(all.images.size(), 1U);
  ASSERT_EQ(all.images[0].boxes.size(), 1U);
  EXPECT_EQ(all.images[0].boxes[0].label, 1);
  EXPECT_EQ(all.images[0].boxes[0].bottom, 6);
  const std::vector<std::pair<std::string, std::string>> bad = {
      {"[7]", "c.json: annotations[0]: is not an object"},
      {"[[]]", "c.json: annotations[0]: is not an object"},
      {"{}",
       "c.json: has no list 'annotations'; the COCO format is {images: [...], annotations: [...], "
       "categories: [...]}"},
      {R"([{"category_id": 2, "bbox": [1, 2, 3, 4]}])", "c.json: annotations[0]: has no integer 'image_id'"},
      {R"([{"image_id": 5, "category_id": 2, "bbox": [1, 2, 3, "4"]}])",
       "c.json: annotations[0]: 'bbox' is not [x, y, width, height]"},
      {R"([{"image_id": 5, "category_id": 2, "bbox": {"width": 5, "height": 6, "x": 1, "y": 2}}])",
       "c.json: annotations[0]: 'bbox' is not [x, y, width, height]"},
      {R"([{"image_id": 5, "category_id": 2, "bbox": [1, 2, 3, 4], "bbox": 7}])",
       "c.json: annotations[0]: 'bbox' is not [x, y, width, height]"},
      {R"([{"image_id": 5, "category_id": 2, "bbox": [1, 2, [3], 4]}])",
       "c.json: annotations[0]: 'bbox' is not [x, y, width, height]"},
      {R"([{"image_id": 5, "category_id": 2, "bbox": [1, 2, 3, 4, 5]}])",
       "c.json: annotations[0]: 'bbox' is not [x, y, width, height]"}};
  for (const auto& one : bad) EXPECT_EQ(error_of([&] { read(one.first); }), one.second);
}

/// TPACK_MUTATIONS sets how many; a million of each were run once (bench/RESULTS.md).
TEST_F(ImageBoxes, changed_bytes_are_read_or_reported) {
  const char* const wanted = std::getenv("TPACK_MUTATIONS");
  const int64_t rounds = wanted != nullptr ? std::atoll(wanted) : 2000;
  std::mt19937 random(1);
  int64_t read = 0;
  int64_t reported = 0;
  const auto run = [&](const std::string& text, const std::function<void(const std::string&)>& read_it) {
    for (int64_t round = 0; round < rounds; ++round) {
      std::string changed = text;
      for (auto k = 1 + random() % 3; k > 0 && !changed.empty(); --k) {
        const size_t at = random() % changed.size();
        switch (random() % 4) {
          case 0:
            changed[at] = static_cast<char>(random() % 256);
            break;
          case 1:
            changed.erase(at, 1 + random() % 9);
            break;
          case 2:
            changed.insert(at, changed.substr(random() % changed.size(), random() % 20));
            break;
          default:
            changed.resize(at);
            break;
        }
      }
      try {
        read_it(changed);
        ++read;
      } catch (const DataError&) {
        ++reported;
      }
    }
  };
  ClassNumbers classes;
  run(kCoco, [](const std::string& t) { read_coco_boxes(t, "t"); });
  run(kVoc, [&](const std::string& t) { read_voc_boxes(t, "t", {.difficult = true}, classes); });
  run(kYolo, [](const std::string& t) { read_yolo_boxes(t, "t", 2); });
  EXPECT_EQ(read + reported, 3 * rounds);
  EXPECT_GT(read, rounds / 20);
  EXPECT_GT(reported, rounds);
}

std::string content_of_boxes(const std::string& source) {
  const TempFolder folder;
  for (const char* name : {"photos/a.png", "photos/b.png"}) folder.write(name, encode_png(photo(40, 30)));
  for (const char* name : {"other/a.png", "other/b.png"}) folder.write(name, encode_png(photo(41, 30)));
  for (const char* name : {"voc/a.xml", "voc2/b.xml"}) folder.write_text(name, kVoc);
  folder.write_text("names.txt", "a\n");
  return content_of_flow("[" + source + "]", folder.path("flow.yaml"));
}

const live::Fields kImageBoxes("source", "ImageBoxes",
                               {.base = "images: photos\nannotations: voc",
                                .values = {{"images", "other"},
                                           {"annotations", "voc2"},
                                           {"only", "names.txt"},
                                           {"classes", "[dog, cat]"},
                                           {"max_boxes", "7"},
                                           {"depth", "16"}},
                                .left_out = {{"mirror_pairs", "of an augmentor, which a test above shows"},
                                             {"background", "as of ImageFolder, whose test shows it"},
                                             {"upright", "as of ImageFolder, whose test shows it"},
                                             {"max_megapixels", "as of ImageFolder, whose test shows it"}},
                                .build = content_of_boxes});

}  // namespace
}  // namespace tpack
