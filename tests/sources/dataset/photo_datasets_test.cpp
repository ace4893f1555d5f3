#include "dataflow/fitted_data.h"
#include "dataflow/flow_helpers.h"
#include "dataflow/golden_images.h"
#include "dataflow/mat_writer.h"
#include "dataflow/test_images.h"
#include "support/live_fields.h"

namespace tpack {
namespace {

void write_photos(const TempFolder& folder, const Texts& names) {
  for (size_t i = 0; i < names.size(); ++i)
    folder.write(names[i], encode_png(photo(4, 6 + static_cast<int>(i))));
}

/// "HEIGHT CLASS" of each sample.
Texts photos_of(const DataFlow& flow) {
  flow.prepare();
  Texts all;
  const auto cursor = flow.open({});
  for (Datapoint d; cursor->next(d);) {
    const auto label = static_cast<int64_t>(d.tensor(1).at(0));
    all.push_back(std::to_string(d.to_tensor(0).shape()[0]) + " " + flow.spec()[1].class_name(label));
  }
  return all;
}

std::string val_flow(const std::string& source) {
  return "[" + source + ": {split: val, dir: ., shuffle: false}]";
}

const Texts kTrain = {"train/n02/n02_7.JPEG", "train/n01/n01_1.JPEG", "train/n01/n01_2.JPEG"};
const Texts kFlatVal = {"val/ILSVRC2012_val_00000001.JPEG", "val/ILSVRC2012_val_00000002.JPEG",
                        "val/ILSVRC2012_val_00000003.JPEG"};

TEST(Ilsvrc12, reads_the_training_folders) {
  const TempFolder folder;
  write_photos(folder, kTrain);
  const DataFlow flow = folder.flow("[ILSVRC12: {dir: ., shuffle: false}]");
  EXPECT_EQ(photos_of(flow), (Texts{"7 n01", "8 n01", "6 n02"}));
  EXPECT_EQ(flow.size(), 3);
  EXPECT_EQ(describe(flow.facts()), "3 images in 2 classes (n01: 2, n02: 1)");
}

TEST(Ilsvrc12, reads_every_layout_of_the_validation_images) {
  const Texts expected = {"6 n02", "7 n01", "8 n02"};
  {
    const TempFolder folder;
    write_photos(folder, kTrain);
    write_photos(folder, kFlatVal);
    folder.write_text("val.txt",
                      "ILSVRC2012_val_00000001.JPEG 1\nILSVRC2012_val_00000002.JPEG 0\n"
                      "ILSVRC2012_val_00000003.JPEG 1\n");
    EXPECT_EQ(photos_of(folder.flow(val_flow("ILSVRC12"))), expected);
  }
  {
    const TempFolder folder;
    for (const std::string& name : kFlatVal) {
      const auto i = static_cast<int>(&name - kFlatVal.data());
      folder.write("ilsvrc12/ILSVRC/Data/CLS-LOC/" + name, encode_png(photo(4, 6 + i)));
    }
    folder.write_text("ilsvrc12/LOC_synset_mapping.txt", "n01 tench, Tinca tinca\nn02 goldfish\n");
    folder.write_text(
        "ilsvrc12/LOC_val_solution.csv",
        "ImageId,PredictionString\nILSVRC2012_val_00000001,n02 1 2 3 4\n"
        "ILSVRC2012_val_00000002,n01 1 2 3 4 n01 5 6 7 8\nILSVRC2012_val_00000003,n02 1 2 3 4\n");
    EXPECT_EQ(photos_of(folder.flow(val_flow("ILSVRC12"))), expected);
  }
  {
    const TempFolder folder;  // the numbers of the development kit are not in the order of the synsets
    write_photos(folder, kFlatVal);
    const MatWriter mat;
    folder.write("ILSVRC2012_devkit_t12/data/meta.mat",
                 mat_file({mat.structure("synsets", {"ILSVRC2012_ID", "WNID"},
                                         {mat.numbers("", {1, 1}, {1}), mat.text("", "n02"),
                                          mat.numbers("", {1, 1}, {2}), mat.text("", "n01")})}));
    folder.write_text("ILSVRC2012_devkit_t12/data/ILSVRC2012_validation_ground_truth.txt", "1\n2\n1\n");
    EXPECT_EQ(photos_of(folder.flow(val_flow("ILSVRC12"))), expected);
  }
  {
    const TempFolder folder;
    write_photos(folder, {"val/n02/a.JPEG", "val/n01/b.JPEG"});
    EXPECT_EQ(photos_of(folder.flow(val_flow("ILSVRC12"))), (Texts{"7 n01", "6 n02"}));
  }
}

TEST(Ilsvrc12, names_what_is_missing) {
  const TempFolder folder;
  const auto error = [&] { return error_of([&] { photos_of(folder.flow(val_flow("ILSVRC12"))); }); };
  EXPECT_TRUE(says(error(), {"dataset ilsvrc12: val/ or ILSVRC2012_img_val/ or ", "not found", folder.path(),
                             "https://image-net.org/", "registration"}));
  write_photos(folder, kFlatVal);
  EXPECT_TRUE(says(error(), {"val.txt or ", "ILSVRC2012_validation_ground_truth.txt not found"}));
  folder.write_text("val.txt", "a.JPEG 1\n");
  EXPECT_TRUE(says(error(), {"synsets.txt or LOC_synset_mapping.txt not found"}));
  folder.write_text("synsets.txt", "n01\nn02\n");
  EXPECT_TRUE(says(error(), {"val/: has no file a.JPEG (1 of 1 images of ", "val.txt"}));
  folder.write_text("val.txt", "ILSVRC2012_val_00000001.JPEG 2\n");
  EXPECT_TRUE(says(error(), {"val.txt: has the class '2' of ILSVRC2012_val_00000001.JPEG", "0 to 1"}));
}

/// A validation part without some classes has the numbers of the training part.
TEST(Ilsvrc12, follows_the_classes_of_the_training_data) {
  const TempFolder folder;
  write_photos(folder, {"train/n01/a.JPEG", "train/n02/b.JPEG", "val/n02/c.JPEG"});
  const auto fit = std::make_shared<Fit>(folder.flow("[ILSVRC12: {dir: .}]"));
  const DataFlow flow = folder.flow("[ILSVRC12: {split: val, dir: .}, SelectComponent: [label]]", fit);
  EXPECT_EQ(first_component(flow), (Integers{1}));
}

TEST(TinyImageNet, reads_both_parts) {
  const TempFolder folder;
  write_photos(folder, {"train/n02/images/n02_0.JPEG", "train/n01/images/n01_0.JPEG", "val/images/val_0.JPEG",
                        "val/images/val_1.JPEG"});
  folder.write_text("train/n01/n01_boxes.txt", "n01_0.JPEG\t0\t1\t2\t3\n");
  folder.write_text("val/val_annotations.txt",
                    "val_0.JPEG\tn02\t0\t32\t44\t62\nval_1.JPEG\tn01\t52\t55\t57\t59\n");
  EXPECT_EQ(photos_of(folder.flow(val_flow("TinyImageNet"))), (Texts{"8 n02", "9 n01"}));
  folder.write_text("words.txt", "n00\tentity\nn01\tgoldfish, Carassius auratus\nn02\tbullfrog\n");
  EXPECT_EQ(photos_of(folder.flow("[TinyImageNet: {dir: ., shuffle: false}]")),
            (Texts{"7 n01 goldfish, Carassius auratus", "6 n02 bullfrog"}));
  EXPECT_EQ(photos_of(folder.flow(val_flow("TinyImageNet"))),
            (Texts{"8 n02 bullfrog", "9 n01 goldfish, Carassius auratus"}));
  const TempFolder moved;
  write_photos(moved, {"tiny-imagenet-200/val/n01/a.JPEG"});
  EXPECT_EQ(photos_of(moved.flow(val_flow("TinyImageNet"))), (Texts{"6 n01"}));
  const TempFolder empty;
  EXPECT_TRUE(fails([&] { photos_of(empty.flow(val_flow("TinyImageNet"))); },
                    {"dataset tiny-imagenet-200: val/ not found", "http://cs231n.stanford.edu/",
                     "tpack data fetch TinyImageNet"}));
  folder.write_text("val/val_annotations.txt", "val_0.JPEG\tn09\t0\t32\t44\t62\n");
  EXPECT_TRUE(fails([&] { photos_of(folder.flow(val_flow("TinyImageNet"))); },
                    {"val_annotations.txt: has the class 'n09' of val_0.JPEG", "2 classes"}));
}

TEST(Places365Standard, reads_both_parts) {
  const TempFolder folder;
  write_photos(folder, {"places365_standard/train/beach/1.jpg", "places365_standard/train/airfield/1.jpg",
                        "places365_standard/val/beach/2.jpg"});
  EXPECT_EQ(photos_of(folder.flow("[Places365Standard: {dir: ., shuffle: false}]")),
            (Texts{"7 airfield", "6 beach"}));
  EXPECT_EQ(photos_of(folder.flow(val_flow("Places365Standard"))), (Texts{"8 beach"}));
  const TempFolder empty;
  folder.write_text("flat/train/1.jpg", "");
  EXPECT_TRUE(fails([&] { photos_of(folder.flow("[Places365Standard: {dir: flat}]")); },
                    {"flat/train/: has no images in folders of classes"}));
  EXPECT_TRUE(fails([&] { photos_of(empty.flow(val_flow("Places365Standard"))); },
                    {"dataset places365: ", "http://places2.csail.mit.edu/"}));
}

/// The datasets of the tests of fields, written once.
std::string content_with_photo_datasets(const std::string& source) {
  static const auto all = [] {
    auto made = std::make_unique<TempFolder>();
    const TempFolder& folder = *made;
    for (const std::string copy : {"first/", "second/"}) {
      Texts names;
      for (const std::string below : {"", "images/"}) {
        for (const std::string part : {"train/a/", "train/b/", "val/a/"}) {
          names.push_back(copy + part + below + "1.png");
          if (copy == "second/") names.push_back(copy + part + below + "2.png");
        }
        folder.write(copy + "train/a/" + below + "8.png",
                     encode_png(cv::Mat(2, 4, CV_8UC4, cv::Scalar(9, 99, 200, 128))));
        folder.write(copy + "train/b/" + below + "9.png", with_orientation(encode_png(photo(4, 7)), 6, true));
      }
      write_photos(folder, names);
    }
    return made;
  }();
  return content_of_flow("[" + source + "]", all->path("flow.yaml"));
}

const live::Component kPhotosInFirst = {
    .base = "{dir: first}",
    .values = {{"dir", "second"}, {"depth", "float"}, {"background", "0"}},
    .left_out = {{"max_megapixels", "an error for larger images, as in ImageFolder"}},
    .build = content_with_photo_datasets};
const live::Fields kIlsvrc12("source", "ILSVRC12", kPhotosInFirst);
const live::Fields kTinyImageNet("source", "TinyImageNet", kPhotosInFirst);
const live::Fields kPlaces365("source", "Places365Standard", kPhotosInFirst);

}  // namespace
}  // namespace tpack
