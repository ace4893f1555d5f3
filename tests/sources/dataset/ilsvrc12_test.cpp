#include <filesystem>

#include "dataflow/fitted_data.h"
#include "dataflow/mat_writer.h"
#include "dataflow/photo_files.h"
#include "dataflow/tar_writer.h"

namespace tpack {
namespace {

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

std::string bytes_text(const Bytes& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}
std::string photo_text(size_t number) { return bytes_text(photo_number(number)); }

/// As ILSVRC2012_img_train.tar: an archive for each synset, in any order.
std::string train_tar() {
  return tar_archive(
      {{"n02.tar", tar_archive({{"n02_7.JPEG", photo_text(0)}})},
       {"n01.tar", tar_archive({{"n01_2.JPEG", photo_text(2)}, {"n01_1.JPEG", photo_text(1)}})}});
}

TEST(Ilsvrc12, reads_the_archive_of_archives_as_its_folders) {
  const TempFolder folder;
  folder.write_text("ilsvrc12/ILSVRC2012_img_train.tar", train_tar());
  const DataFlow packed = folder.flow("[ILSVRC12: {dir: ., shuffle: false}]");
  EXPECT_EQ(photos_of(packed), (Texts{"7 n01", "8 n01", "6 n02"}));
  EXPECT_EQ(describe(packed.facts()), "3 images in 2 classes (n01: 2, n02: 1)");
  const TempFolder other;
  write_photos(other, kTrain);
  const DataFlow unpacked = other.flow("[ILSVRC12: {dir: ., shuffle: false}]");
  unpacked.prepare();
  EXPECT_EQ(packed.sources()[0]->part<SourceFiles>().fingerprint(),
            unpacked.sources()[0]->part<SourceFiles>().fingerprint());
  for (int64_t i = 0; i < 3; ++i)
    EXPECT_EQ(packed.sources()[0]->part<SampleFacts>().stable_name(i),
              unpacked.sources()[0]->part<SampleFacts>().stable_name(i));
}

TEST(Ilsvrc12, reads_the_archive_of_validation_images) {
  const TempFolder folder;
  folder.write_text("ILSVRC2012_img_train.tar", train_tar());
  std::vector<std::pair<std::string, std::string>> images;
  for (size_t i = 0; i < kFlatVal.size(); ++i)
    images.emplace_back(std::filesystem::path(kFlatVal[i]).filename().string(), photo_text(i));
  folder.write_text("ILSVRC2012_img_val.tar", tar_archive(images));
  folder.write_text("val.txt",
                    "ILSVRC2012_val_00000001.JPEG 1\nILSVRC2012_val_00000002.JPEG 0\n"
                    "ILSVRC2012_val_00000003.JPEG 1\n");
  EXPECT_EQ(photos_of(folder.flow(val_flow("ILSVRC12"))), (Texts{"6 n02", "7 n01", "8 n02"}));
  folder.write_text("val.txt", "ILSVRC2012_val_00000009.JPEG 1\n");
  EXPECT_TRUE(fails([&] { photos_of(folder.flow(val_flow("ILSVRC12"))); },
                    {"ILSVRC2012_img_val.tar: has no file ILSVRC2012_val_00000009.JPEG (1 of 1 images of "}));
}

TEST(Ilsvrc12, names_what_is_wrong_in_an_archive) {
  const TempFolder folder;
  const auto error = [&](const std::string& content) {
    folder.write_text("ILSVRC2012_img_train.tar", content);
    return error_of([&] { photos_of(folder.flow("[ILSVRC12: {dir: .}]")); });
  };
  const std::string inner = tar_archive({{"n01_1.JPEG", photo_text(0)}});
  EXPECT_TRUE(says(error(tar_archive({{"n01/n01_1.JPEG", photo_text(0)}})),
                   {"train.tar: has the file 'n01_1.JPEG'", "an archive of images for each class"}));
  EXPECT_TRUE(says(error(tar_archive({})), {"train.tar: has no files"}));
  EXPECT_TRUE(says(error(tar_archive({{"n01.tar", tar_archive({})}})), {"train.tar: has no images"}));
  EXPECT_TRUE(says(error(tar_archive({{"n01.tar", inner}, {"n01.tar", inner}})), {"two files 'n01.tar'"}));
  EXPECT_TRUE(says(error(tar_archive({{"n01.tar", std::string(512, 'x')}})),
                   {"train.tar: n01.tar: at byte 0: is not a tar archive"}));
  EXPECT_TRUE(says(error(tar_archive({{"n01.tar", inner.substr(0, 600)}, {"n02.tar", inner}})),
                   {"train.tar: n01.tar: at byte 0: the archive ends within 'n01_1.JPEG'"}))
      << "the next archive is not a part of this one";
  EXPECT_TRUE(says(error(tar_archive({{"n01.tar", tar_archive({{"n01_1.JPEG", "no image"}})}})),
                   {"ILSVRC2012_img_train.tar/n01/n01_1.JPEG: "}));
}

TEST(Ilsvrc12, notices_that_its_archive_changes) {
  const TempFolder folder;
  folder.write_text("ILSVRC2012_img_train.tar", train_tar());
  const DataFlow flow = folder.flow("[ILSVRC12: {dir: .}]");
  photos_of(flow);
  folder.write_text("ILSVRC2012_img_train.tar", train_tar() + std::string(512, '\0'));
  EXPECT_TRUE(fails([&] { photos_of(flow); }, {"ILSVRC2012_img_train.tar", "changed"}));
}

/// "LEFT TOP RIGHT BOTTOM CLASS" of each sample.
Texts boxes_of(const DataFlow& flow) {
  Texts all;
  const auto cursor = flow.open({});
  for (Datapoint d; cursor->next(d);) {
    std::string text;
    for (int64_t k = 0; k < 5; ++k) text += (k > 0 ? " " : "") + shortest(d.to_tensor(2).at(k));
    all.push_back(text);
  }
  return all;
}

/// n01_1 is 4 x 7 pixels, n01_2 4 x 8, n02_7 4 x 6.
TEST(Ilsvrc12, gives_the_first_box_of_each_image) {
  const Texts expected = {"1 2 3 5 0", "0 0 4 8 0", "0 0 2 6 1"};
  const std::string first = box_xml(4, 7, {"2 3 3 5", "1 1 1 1"});
  const std::string last = box_xml(8, 12, {"6 6 3 3", "-3 -4 4 15"});  // of a larger version of the image
  const std::string of_all = "[ILSVRC12: {dir: ., shuffle: false, include_bb: true}]";
  const TempFolder folder;
  write_photos(folder, kTrain);
  folder.write_text("bbox/n01/n01_1.xml", first);
  folder.write_text("bbox/n02/n02_7.xml", last);
  folder.write_text("bbox/n09/n09_1.xml", "of another class");
  const DataFlow flow = folder.flow(of_all);
  flow.prepare();
  EXPECT_EQ(flow.spec().str(), "image uint8 [?, ?, 3], label int32 [], bbox float32 [1, 5]");
  EXPECT_EQ(boxes_of(flow), expected);
  EXPECT_THAT(flow.facts().at(0).remarks,
              testing::Contains("1 images have no box; their box is the whole image"));
  const DataFlow turned = folder.flow(
      "[ILSVRC12: {dir: ., shuffle: false, include_bb: true}, "
      "AugmentImageComponent: [{Flip: {prob: 1}}]]");
  EXPECT_EQ(boxes_of(turned)[0], "1 2 3 5 0") << "the mirror image of 1 to 3 of 4 pixels";
  EXPECT_EQ(boxes_of(turned)[2], "2 0 4 6 1");
  {
    const TempFolder packed;
    packed.write_text("ILSVRC2012_img_train.tar", train_tar());
    packed.write_text("ILSVRC2012_bbox_train_v2.tar.gz",
                      tar_archive({{"n01/n01_1.xml", first}, {"n02/n02_7.xml", last}, {"n09/a.xml", "no"}}));
    EXPECT_EQ(boxes_of(packed.flow(of_all)), expected);
  }
  {
    const TempFolder val;
    write_photos(val, {"ILSVRC/Data/CLS-LOC/val/n02/ILSVRC2012_val_00000001.JPEG"});
    val.write_text("ILSVRC/Annotations/CLS-LOC/val/ILSVRC2012_val_00000001.xml", box_xml(4, 6, {"2 3 3 5"}));
    EXPECT_EQ(boxes_of(val.flow("[ILSVRC12: {split: val, dir: ., include_bb: true}]")), (Texts{"1 2 3 5 0"}));
  }
}

TEST(Ilsvrc12, names_what_is_wrong_with_boxes) {
  const TempFolder folder;
  write_photos(folder, kTrain);
  const auto error = [&] {
    return error_of([&] { folder.flow("[ILSVRC12: {dir: ., include_bb: true}]").prepare(); });
  };
  EXPECT_TRUE(says(error(), {"bbox/ or ", "ILSVRC2012_bbox_train_v2.tar.gz not found"}));
  folder.write_text("bbox/n01/n01_9.xml", box_xml(4, 7, {"1 1 2 2"}));
  EXPECT_TRUE(says(error(), {"bbox/: has no file named after an image, such as n01_1.xml"}));
  folder.write_text("bbox/n01/n01_1.xml", "<annotation/>");
  EXPECT_TRUE(says(error(), {"n01_1.xml: has no <size> of its image"}));
  folder.write_text("bbox/n01/n01_1.xml", "<html>");
  EXPECT_TRUE(says(error(), {"n01_1.xml: is not XML"}));
}

}  // namespace
}  // namespace tpack
