#include "dataflow/flow_helpers.h"
#include "dataflow/golden_images.h"
#include "dataflow/photo_files.h"
#include "dataflow/test_images.h"
#include "support/live_fields.h"

namespace tpack {
namespace {

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
      folder.write_text(copy + "bbox/a/8.xml", box_xml(4, 2, {"1 1 2 2"}));
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
