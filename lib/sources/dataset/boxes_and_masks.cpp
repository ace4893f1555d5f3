// Datasets of boxes and masks, which ImageBoxes and ImagePairs read.
#include <array>
#include <filesystem>

#include "core/error.h"
#include "core/registry.h"
#include "dataflow/fitted_data.h"
#include "dataflow/source.h"
#include "sources/dataset/dataset_files.h"
#include "sources/image_file.h"

namespace tpack {
namespace {

namespace fs = std::filesystem;

enum class VocSplit : uint8_t { kTrain, kVal, kTrainVal, kTest };
enum class CocoSplit : uint8_t { kTrain, kVal };

}  // namespace

template <>
struct EnumNames<VocSplit> {
  static constexpr std::array<std::pair<const char*, VocSplit>, 4> kNames = {
      {{"train", VocSplit::kTrain},
       {"val", VocSplit::kVal},
       {"trainval", VocSplit::kTrainVal},
       {"test", VocSplit::kTest}}};
};

template <>
struct EnumNames<CocoSplit> {
  static constexpr std::array<std::pair<const char*, CocoSplit>, 2> kNames = {
      {{"train", CocoSplit::kTrain}, {"val", CocoSplit::kVal}}};
};

namespace {

constexpr std::array kVocClasses = {"aeroplane",   "bicycle", "bird",  "boat",      "bottle",
                                    "bus",         "car",     "cat",   "chair",     "cow",
                                    "diningtable", "dog",     "horse", "motorbike", "person",
                                    "pottedplant", "sheep",   "sofa",  "train",     "tvmonitor"};

/// A dataset that another source reads, whose settings are known once the files are found.
class FoundDataset : public RandomAccessSource, public SourceFiles, public LearnedValues, public SampleFacts {
 public:
  bool knows_spec() const override { return found_ != nullptr; }
  std::optional<ComponentSpec> declared_image() const override { return image_of_files(form_); }
  Spec spec() const override { return found_->spec(); }
  int64_t size() const override { return found_ == nullptr ? 0 : found_->size(); }
  bool shuffled() const override { return form_.shuffle; }
  SourceFacts facts() const override { return found_->facts(); }
  std::string file_of(int64_t index) const override { return found_->file_of(index); }
  std::string fingerprint() const override { return found_->part<SourceFiles>().fingerprint(); }
  std::vector<FittedComponent> fitted() const override {
    return found_ == nullptr ? std::vector<FittedComponent>{} : found_->part<LearnedValues>().fitted();
  }
  std::optional<std::string> stable_name(int64_t index) const override {
    return found_->part<SampleFacts>().stable_name(index);
  }
  void get(int64_t index, const SampleKey& key, Datapoint& out) const override {
    found_->get(index, key, out);
  }

 protected:
  explicit FoundDataset(ImageFileFields form) : form_(form) {}
  /// The source of the files, with `settings` of its images. Errors: DataError if files are missing.
  virtual std::unique_ptr<Source> find(const ConfigNode& settings) const = 0;
  void prepare() override {
    const ConfigNode settings = with_image_files(Schema<ImageFileFields>("")).dump(form_);
    auto found = std::dynamic_pointer_cast<RandomAccessSource>(std::shared_ptr<Source>(find(settings)));
    found->follow_as(*this);
    found->prepare_once({});
    found_ = std::move(found);
  }

 private:
  ImageFileFields form_;
  std::shared_ptr<RandomAccessSource> found_;  // null until the files are found
};

template <class E>
std::string name_of_split(E split) {
  return EnumNames<E>::kNames.at(static_cast<size_t>(split)).first;
}

ConfigNode names_node(const std::vector<std::string>& names) {
  return Codec<std::vector<std::string>>::dump(names);
}

struct VocParams : ImageFileFields {
  VocSplit split = VocSplit::kTrain;
  int64_t year = 2012;
  Ref<Path> dir;
};

template <class P>
Schema<P> voc_schema(Schema<P> schema, const char* splits) {
  return with_image_files(
      schema.field("split", static_cast<VocSplit P::*>(&P::split), splits)
          .field("year", static_cast<int64_t P::*>(&P::year), between(2007, 2012), "year of the challenge")
          .field("dir", static_cast<Ref<Path> P::*>(&P::dir),
                 "folder with VOCdevkit, or its parent folder; default: TPACK_DATASET"));
}

std::string voc_folder(const DatasetFiles& files, int64_t year) {
  const std::string name = "VOC" + std::to_string(year) + "/";
  return files.find_first({"VOCdevkit/" + name, "TrainVal/VOCdevkit/" + name, name});
}

/// The paths of files in a folder. Errors: DataError if one is missing.
std::string in_folder(const std::string& folder, const std::string& name) {
  const fs::path path = fs::path(folder) / name;
  if (!fs::exists(path)) throw DataError(folder, "has no " + name + "; unpack the whole archive");
  return path.string();
}

/// Source: Everingham et al. 2010, "The PASCAL Visual Object Classes (VOC) Challenge". Class 0 is the
/// background; the edges of objects, 255, do not count.
///
/// Layout, in `dir` or in its folder voc: VOCdevkit/VOC2012/JPEGImages, SegmentationClass and
/// ImageSets/Segmentation/SPLIT.txt.
class VocSegmentation final : public FoundDataset {
 public:
  using Params = VocParams;
  static Schema<Params> schema() {
    return voc_schema(
        Schema<Params>(
            "Pascal VOC: photographs, and masks of 20 kinds of objects. Provides `image` and `mask` as "
            "ImagePairs does; set ignore_label: 255 in costs and metrics.")
            .example("VOCSegmentation: {split: val, shuffle: false}"),
        "of 2012: train: 1,464 images; val: 1,449; trainval: both; test: without public masks after 2007");
  }
  explicit VocSegmentation(const Params& p) : FoundDataset(p), p_(p), files_("VOCSegmentation", p.dir) {}

 protected:
  std::unique_ptr<Source> find(const ConfigNode& settings) const override {
    const std::string folder = voc_folder(files_, p_.year);
    std::vector<std::string> names = {"background"};
    names.insert(names.end(), kVocClasses.begin(), kVocClasses.end());
    return Registry<Source>::make(
        "ImagePairs",
        settings.with("images", in_folder(folder, "JPEGImages"))
            .with("masks", in_folder(folder, "SegmentationClass"))
            .with("only", in_folder(folder, "ImageSets/Segmentation/" + name_of_split(p_.split) + ".txt"))
            .with("classes", names_node(names))
            .with("ignore", int64_t{255}));
  }

 private:
  Params p_;
  DatasetFiles files_;
};

struct VocDetectionParams : VocParams {
  int64_t max_boxes = 100;
  bool difficult = false;
};

/// Source: as for VOCSegmentation.
///
/// Layout, in `dir` or in its folder voc: VOCdevkit/VOC2012/JPEGImages, Annotations and
/// ImageSets/Main/SPLIT.txt.
class VocDetection final : public FoundDataset {
 public:
  using Params = VocDetectionParams;
  static Schema<Params> schema() {
    return voc_schema(Schema<Params>(
                          "Pascal VOC: photographs, and boxes of 20 kinds of objects. Provides `image` and "
                          "`boxes` as ImageBoxes does.")
                          .example("VOCDetection: {split: val, shuffle: false}"),
                      "of 2012: train: 5,717 images; val: 5,823; trainval: both; test: without public boxes "
                      "after 2007")
        .field("max_boxes", &Params::max_boxes, between(1, 10'000),
               "number of rows of `boxes`; no image may have more boxes")
        .field("difficult", &Params::difficult, "also use boxes that are marked as difficult");
  }
  explicit VocDetection(const Params& p) : FoundDataset(p), p_(p), files_("VOCDetection", p.dir) {}

 protected:
  std::unique_ptr<Source> find(const ConfigNode& settings) const override {
    const std::string folder = voc_folder(files_, p_.year);
    return Registry<Source>::make(
        "ImageBoxes",
        settings.with("images", in_folder(folder, "JPEGImages"))
            .with("annotations", in_folder(folder, "Annotations"))
            .with("only", in_folder(folder, "ImageSets/Main/" + name_of_split(p_.split) + ".txt"))
            .with("classes", names_node({kVocClasses.begin(), kVocClasses.end()}))
            .with("max_boxes", p_.max_boxes)
            .with("difficult", p_.difficult));
  }

 private:
  Params p_;
  DatasetFiles files_;
};

struct CocoParams : ImageFileFields {
  CocoSplit split = CocoSplit::kTrain;
  int64_t year = 2017;
  int64_t max_boxes = 100;
  Ref<Path> dir;
};

/// Source: Lin et al. 2014, "Microsoft COCO: Common Objects in Context". The classes are the categories, in
/// the order of their ids.
///
/// Layout, in `dir` or in its folder coco: annotations/instances_train2017.json, and train2017/*.jpg or
/// images/train2017/*.jpg.
class Coco final : public FoundDataset {
 public:
  using Params = CocoParams;
  static Schema<Params> schema() {
    return with_image_files(
        Schema<Params>("COCO: photographs, and boxes of 80 kinds of objects. Provides `image` and `boxes` as "
                       "ImageBoxes does.")
            .example("COCO: {split: val, shuffle: false}")
            .field("split", &Params::split, "of 2017: train: 118,287 images; val: 5,000")
            .field("year", &Params::year, between(2014, 2017), "year of the challenge, 2014 or 2017")
            .field("max_boxes", &Params::max_boxes, between(1, 10'000),
                   "number of rows of `boxes`; no image may have more boxes")
            .field("dir", &Params::dir,
                   "folder of the dataset, or its parent folder; default: TPACK_DATASET"));
  }
  explicit Coco(const Params& p) : FoundDataset(p), p_(p), files_("COCO", p.dir) {}

 protected:
  std::unique_ptr<Source> find(const ConfigNode& settings) const override {
    const std::string split = name_of_split(p_.split) + std::to_string(p_.year);
    const std::string annotations = files_.find_first({"annotations/instances_" + split + ".json"});
    return Registry<Source>::make(
        "ImageBoxes", settings.with("annotations", annotations)
                          .with("images", files_.find_first({split + "/", "images/" + split + "/"}))
                          .with("max_boxes", p_.max_boxes));
  }

 private:
  Params p_;
  DatasetFiles files_;
};

TPACK_REGISTER(Source, VocSegmentation, "VOCSegmentation");
TPACK_REGISTER(Source, VocDetection, "VOCDetection");
TPACK_REGISTER(Source, Coco, "COCO");

}  // namespace
}  // namespace tpack
