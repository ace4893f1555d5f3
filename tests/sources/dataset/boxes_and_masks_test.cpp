#include "core/text.h"
#include "dataflow/flow_helpers.h"
#include "dataflow/test_images.h"
#include "support/live_fields.h"

namespace tpack {
namespace {

std::string voc_object(const std::string& name, int left, const std::string& more = "") {
  const std::string x = std::to_string(left);
  return "<object><name>" + name + "</name>" + more + "<bndbox><xmin>" + x + "</xmin><ymin>1</ymin><xmax>" +
         x + "</xmax><ymax>2</ymax></bndbox></object>";
}

/// Three photographs, each with a mask that is its number, 255 in a corner, and one box.
void write_voc(const TempFolder& folder, const std::string& devkit) {
  for (int i = 1; i <= 3; ++i) {
    const std::string name = "2007_00000" + std::to_string(i);
    folder.write(devkit + "JPEGImages/" + name + ".jpg", encode_png(photo(4, 3)));
    cv::Mat mask(3, 4, CV_8UC1, cv::Scalar(i));
    mask.at<uint8_t>(0, 0) = 255;
    folder.write(devkit + "SegmentationClass/" + name + ".png", encode_png(mask));
    folder.write_text(devkit + "Annotations/" + name + ".xml",
                      "<annotation>" + voc_object(i == 2 ? "bird" : "person", i) +
                          voc_object("cat", 4, "<difficult>1</difficult>") + "</annotation>");
  }
  folder.write(devkit + "JPEGImages/2007_000009.jpg", encode_png(photo(4, 3)));  // without a mask
  for (const std::string task : {"Main", "Segmentation"}) {
    const std::string sets = devkit + "ImageSets/" + task + "/";
    folder.write_text(sets + "train.txt", "2007_000001\n2007_000003\n");
    folder.write_text(sets + "val.txt", "2007_000002\n");
    folder.write_text(sets + "trainval.txt", "2007_000001\n2007_000002\n2007_000003\n");
    folder.write_text(sets + "test.txt", "2007_000003\n");
  }
}

TEST(VocSegmentation, gives_masks) {
  const TempFolder folder;
  write_voc(folder, "voc/VOCdevkit/VOC2012/");
  const DataFlow flow = folder.flow("[VOCSegmentation: {dir: ., shuffle: false}]");
  flow.prepare();
  EXPECT_EQ(flow.size(), 2);
  EXPECT_EQ(flow.spec()[1].name, "mask");
  EXPECT_EQ(flow.spec()[1].classes.size(), 21U);
  EXPECT_EQ(flow.spec()[1].class_name(15), "person");
  EXPECT_EQ(flow.spec()[1].ignored, 255);
  Datapoint d = first_sample(flow, {.position = 1});
  EXPECT_EQ(d.to_tensor(0).shape(), (Shape{3, 4, 3}));
  EXPECT_EQ(d.tensor(1).at(0), 255);
  EXPECT_EQ(d.tensor(1).at(1), 3);
  EXPECT_FALSE(flow.fingerprint().empty());
}

TEST(VocDetection, gives_boxes) {
  const TempFolder folder;
  write_voc(folder, "VOCdevkit/VOC2007/");
  const auto boxes = [&](const std::string& params) {
    Datapoint d =
        first_sample(folder.flow("[VOCDetection: {dir: ., year: 2007, max_boxes: 2, " + params + "}]"));
    const auto all = d.tensor(1).span<float>();
    return Numbers(all.begin(), all.end());
  };
  EXPECT_EQ(boxes("split: val"), (Numbers{1, 0, 2, 2, 2, 0, 0, 0, 0, -1}));
  EXPECT_EQ(boxes("split: val, difficult: true"), (Numbers{1, 0, 2, 2, 2, 3, 0, 4, 2, 7}));
  const DataFlow flow = folder.flow("[VOCDetection: {dir: ., year: 2007, split: trainval}]");
  flow.prepare();
  EXPECT_EQ(flow.size(), 3);
  EXPECT_EQ(flow.spec()[1].classes.size(), 20U);
}

TEST(Voc, names_what_is_missing) {
  const TempFolder folder;
  const auto error = [&] { return error_of([&] { folder.flow("[VOCSegmentation: {dir: .}]").prepare(); }); };
  EXPECT_TRUE(says(error(), {"dataset voc: VOCdevkit/VOC2012/ or ", "not found",
                             "http://host.robots.ox.ac.uk", "tpack data fetch VOCSegmentation"}));
  folder.write_text("VOC2012/JPEGImages/a.jpg", "");
  EXPECT_TRUE(says(error(), {"VOC2012/: has no SegmentationClass; unpack the whole archive"}));
}

/// `images` photographs, each with a box of a width that depends on the split.
void write_coco_dataset(const TempFolder& folder, const std::string& copy, int images) {
  const std::vector<std::pair<std::string, std::string>> widths = {
      {"train2017", "3"}, {"val2017", "4"}, {"train2014", "5"}};
  for (const auto& [split, width] : widths) {
    Texts listed;
    Texts boxes;
    for (int i = 1; i <= images; ++i) {
      const std::string id = std::to_string(i);
      folder.write(copy + split + "/" + id + ".jpg", encode_png(photo(8 + i, 8)));
      listed.push_back(R"({"id": )" + id + R"(, "file_name": ")" + id + R"(.jpg"})");
      boxes.push_back(R"({"image_id": )" + id + R"(, "category_id": 3, "bbox": [1, 2, )" + width + ", 4]}");
    }
    folder.write_text(copy + "annotations/instances_" + split + ".json",
                      R"({"categories": [{"id": 3, "name": "dog"}, {"id": 1, "name": "cat"}], "images": [)" +
                          join(listed, ", ") + R"(], "annotations": [)" + join(boxes, ", ") + "]}");
  }
}

TEST(Coco, gives_boxes) {
  const TempFolder folder;
  write_coco_dataset(folder, "coco/", 1);
  const DataFlow flow = folder.flow("[COCO: {dir: ., split: val, max_boxes: 1}]");
  Datapoint d = first_sample(flow);
  const auto box = d.tensor(1).span<float>();
  EXPECT_EQ(Numbers(box.begin(), box.end()), (Numbers{1, 2, 5, 6, 1}));
  EXPECT_EQ(flow.spec()[1].classes, (Texts{"cat", "dog"}));
}

TEST(Coco, names_what_is_missing) {
  const TempFolder folder;
  const auto error = [&] { return error_of([&] { folder.flow("[COCO: {dir: .}]").prepare(); }); };
  EXPECT_TRUE(says(error(), {"dataset coco: annotations/instances_train2017.json not found",
                             "https://cocodataset.org/", "tpack data fetch COCO"}));
  write_coco_dataset(folder, "", 1);
  std::filesystem::remove(folder.path("train2017/1.jpg"));
  EXPECT_TRUE(says(error(), {"train2017/: has no file 1.jpg"}));
  std::filesystem::remove(folder.path("train2017"));
  EXPECT_TRUE(says(error(), {"train2017/ or images/train2017/ not found"}));
}

/// The datasets of the tests of fields, written once.
std::string content_with_boxes_and_masks(const std::string& source) {
  static const auto all = [] {
    auto made = std::make_unique<TempFolder>();
    const TempFolder& folder = *made;
    for (const std::string copy : {"first/", "second/"}) {
      for (const std::string year : {"2007", "2008", "2012"})
        write_voc(folder, copy + "VOCdevkit/VOC" + year + "/");
      const std::string devkit = copy + "VOCdevkit/VOC2012/";
      if (copy == "second/") {
        folder.write(devkit + "JPEGImages/2007_000001.jpg", encode_png(photo(4, 3) / 2));
      } else {
        folder.write_text(copy + "VOCdevkit/VOC2008/ImageSets/Main/train.txt", "2007_000001\n");
        folder.write_text(copy + "VOCdevkit/VOC2008/ImageSets/Segmentation/train.txt", "2007_000001\n");
        folder.write_text(copy + "VOCdevkit/VOC2007/ImageSets/Main/train.txt", "2007_000002\n");
        folder.write_text(copy + "VOCdevkit/VOC2007/ImageSets/Segmentation/train.txt", "2007_000002\n");
      }
      write_coco_dataset(folder, copy, copy == "second/" ? 4 : 5);
    }
    return made;
  }();
  return content_of_flow("[" + source + "]", all->path("flow.yaml"));
}

live::Component in_first_with(const std::string& year) {
  return {.base = "{dir: first}",
          .values = {{"dir", "second"}, {"depth", "float"}, {"year", year}, {"max_boxes", "7"}},
          .left_out = {{"background", "as of ImageFolder, whose test shows it"},
                       {"upright", "as of ImageFolder, whose test shows it"},
                       {"max_megapixels", "as of ImageFolder, whose test shows it"}},
          .build = content_with_boxes_and_masks};
}
live::Component without_boxes(live::Component component) {
  component.values.erase("max_boxes");
  return component;
}

const live::Fields kVocSegmentation("source", "VOCSegmentation", without_boxes(in_first_with("2007")));
const live::Fields kVocDetection("source", "VOCDetection", in_first_with("2007"));
const live::Fields kCocoDataset("source", "COCO", in_first_with("2014"));

}  // namespace
}  // namespace tpack
