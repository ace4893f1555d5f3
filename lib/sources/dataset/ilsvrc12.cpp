#include <algorithm>
#include <charconv>
#include <filesystem>
#include <unordered_map>

#include "core/digest.h"
#include "core/error.h"
#include "core/registry.h"
#include "core/text.h"
#include "core/text_encoding.h"
#include "sources/dataset/dataset_files.h"
#include "sources/dataset/flat_listing.h"
#include "sources/dataset/image_tar.h"
#include "sources/dataset/photo_fields.h"
#include "sources/format/box_annotations.h"
#include "sources/format/mat_file.h"
#include "sources/format/tar_gz.h"
#include "system/mapped_file.h"

namespace tpack {
namespace {

namespace fs = std::filesystem;

struct Ilsvrc12Params : PhotoFields {
  bool include_bb = false;
};

/// Names of synsets in meta.mat of the development kit, by the number from 1 that the ground truth has.
std::vector<std::string> synsets_of_devkit(const std::string& path) {
  const MappedFile mapped(path);
  const MatFile file = read_mat_file(mapped.bytes());
  const auto all = std::ranges::find(file.arrays, "synsets", &MatArray::name);
  std::vector<std::string> names;
  const size_t fields = all == file.arrays.end() ? 0 : all->fields.size();
  for (size_t i = 0; fields > 0 && i + fields <= all->items.size(); i += fields) {
    for (size_t k = 0; k < fields; ++k)
      if (all->fields[k] == "WNID") names.push_back(all->items[i + k].text);
  }
  if (names.empty()) throw DataError(path, "has no struct 'synsets' with WNID");
  return names;
}

/// The box of one object of each image.
class FirstBoxes {
 public:
  /// The boxes of images by the names of their files without endings. `place`: a folder of XML files, which
  /// may be in folders of classes, or an archive of them. Errors: DataError.
  FirstBoxes(const FileListing& images, const std::string& place)
      : boxes_(images.files.size(), kWhole), place_(place) {
    for (const FileListing::Entry& image : images.files)
      numbers_.emplace(stem_of(image.path), numbers_.size());
    if (fs::is_directory(place)) {
      read_folder("");
      for (const std::string& synset : images.classes) read_folder(synset);
    } else {
      read_archive();
    }
    numbers_.clear();
    if (annotated_ == 0)
      throw DataError(place, "has no file named after an image, such as " +
                                 printable(stem_of(images.files[0].path)) + kEnding);
  }

  /// In pixels of an image. `row`: left, top, right and bottom.
  void get(int64_t index, ImageSize size, float* row) const {
    const AnnotatedBox& box = boxes_[static_cast<size_t>(index)];
    row[0] = static_cast<float>(box.left * size.width);
    row[1] = static_cast<float>(box.top * size.height);
    row[2] = static_cast<float>(box.right * size.width);
    row[3] = static_cast<float>(box.bottom * size.height);
  }
  int64_t images_without() const { return std::ssize(boxes_) - annotated_; }
  /// Changes with the boxes.
  std::string stamp() const {
    Digest digest;
    for (const AnnotatedBox& box : boxes_)
      for (const double edge : {box.left, box.top, box.right, box.bottom}) digest.add(shortest(edge) + " ");
    return digest.text();
  }

 private:
  static constexpr const char* kEnding = ".xml";
  static constexpr AnnotatedBox kWhole{.left = 0, .top = 0, .right = 1, .bottom = 1};

  static std::string stem_of(const std::string& path) { return fs::path(path).stem().string(); }
  void read_folder(const std::string& name) {
    const fs::path folder = fs::path(place_) / name;
    std::error_code unknown;
    if (!fs::is_directory(folder, unknown)) return;
    for (const std::string& file : sorted_names(folder, [](const fs::directory_entry& entry) {
           return entry.path().extension() == kEnding && !is_hidden(entry.path().filename().string());
         })) {
      const auto image = numbers_.find(stem_of(file));
      if (image == numbers_.end()) continue;
      const std::string path = (folder / file).string();
      const MappedFile content(path);
      read(content.bytes(), path, image->second);
    }
  }
  void read_archive() {
    constexpr size_t kMostBytes = size_t{1} << 30U;
    const auto files = read_tar_gz(
        place_,
        [this](std::string_view name) {
          return name.ends_with(kEnding) && numbers_.contains(stem_of(std::string(name)));
        },
        kMostBytes);
    for (const auto& [name, content] : files)
      read(content, place_ + ": " + printable(name), numbers_.at(stem_of(name)));
  }
  /// Uses the first box that has an area in the image. A few files of the dataset have boxes without area or
  /// outside of the image, or the size of another version of the image: shares of the size fit all of them.
  void read(std::span<const uint8_t> xml, const std::string& path, size_t number) {
    ClassNumbers names;
    const AnnotatedImage image = read_voc_boxes({reinterpret_cast<const char*>(xml.data()), xml.size()}, path,
                                                {.difficult = true, .without_area = true}, names);
    if (!(image.width >= 1) || !(image.height >= 1)) throw DataError(path, "has no <size> of its image");
    for (AnnotatedBox box : image.boxes) {
      box.left = std::clamp(box.left / image.width, 0.0, 1.0);
      box.top = std::clamp(box.top / image.height, 0.0, 1.0);
      box.right = std::clamp(box.right / image.width, 0.0, 1.0);
      box.bottom = std::clamp(box.bottom / image.height, 0.0, 1.0);
      if (box.right <= box.left || box.bottom <= box.top) continue;
      boxes_[number] = box;
      ++annotated_;
      return;
    }
  }

  std::vector<AnnotatedBox> boxes_;  // in shares of the image
  std::string place_;
  std::unordered_map<std::string, size_t> numbers_;  // of images, while they are read
  int64_t annotated_ = 0;
};

/// Source: Russakovsky et al. 2015, "ImageNet Large Scale Visual Recognition Challenge". The classes are the
/// synsets, such as n01440764, sorted, as in most published models. Boxes: tensorpack dataflow/dataset/
/// ilsvrc.py, ILSVRC12.
///
/// Layouts, in `dir` or in its folder ilsvrc12: train/SYNSET/*.JPEG, and val/SYNSET/*.JPEG or val/*.JPEG with
/// a list, which is val.txt (of Caffe: the number of the sorted synset), LOC_val_solution.csv (of Kaggle), or
/// ILSVRC2012_validation_ground_truth.txt with meta.mat (of the development kit). Kaggle's folders
/// ILSVRC/Data/CLS-LOC/train and val are found, too, and the published archives ILSVRC2012_img_train.tar
/// (SYNSET.tar with *.JPEG in each) and ILSVRC2012_img_val.tar (*.JPEG). Boxes: bbox/SYNSET/*.xml and
/// bbox/val/*.xml, the folders of Kaggle, or the published archives.
class Ilsvrc12 final : public LabeledFiles {
 public:
  using Params = Ilsvrc12Params;
  static Schema<Params> schema() {
    return photo_schema<Params>("ImageNet 2012: photographs of 1000 classes.", "ILSVRC12",
                                "train: 1,281,167 images; val: 50,000")
        .field(
            "include_bb", &Params::include_bb,
            "also provide `bbox`, float32 [1, 5]: the box of the first object of the image as a row of "
            "ImageBoxes (left, top, right, bottom, class); images without a box have the whole image. "
            "Files: bbox/SYNSET/NAME.xml or ILSVRC2012_bbox_train_v2.tar.gz; for val, bbox/val/NAME.xml or "
            "ILSVRC2012_bbox_val_v3.tgz");
  }
  explicit Ilsvrc12(const Params& p)
      : LabeledFiles(p, "ILSVRC12", p.include_bb ? "'bbox'" : ""),
        split_(p.split),
        has_boxes_(p.include_bb),
        files_("ILSVRC12", p.dir) {}

  Spec spec() const override {
    Spec own = LabeledFiles::spec();
    if (!has_boxes_) return own;
    std::vector<ComponentSpec> all(own.begin(), own.end());
    all.push_back(
        {.name = "bbox", .tensor = kBox, .classes = listing().classes, .annotation = Annotation::kBoxes});
    return Spec(std::move(all));
  }
  SourceFacts facts() const override {
    SourceFacts facts = LabeledFiles::facts();
    if (boxes_ && boxes_->images_without() > 0)
      facts.remarks.push_back(with_thousands(boxes_->images_without()) +
                              " images have no box; their box is the whole image");
    return facts;
  }
  std::string fingerprint() const override {
    return LabeledFiles::fingerprint() + (boxes_ ? boxes_->stamp() : "");
  }
  void get(int64_t index, const SampleKey& key, Datapoint& out) const override {
    LabeledFiles::get(index, key, out);
    if (!boxes_) return;
    auto* const row = out.renew(2, kBox).data<float>();
    boxes_->get(index, out.image(0).size(), row);
    row[4] = static_cast<float>(listing().files[static_cast<size_t>(index)].label);
  }

 protected:
  FileListing list() const override {
    if (split_ == PhotoSplit::kTrain) {
      const std::string place = files_.find_first(places("train"));
      return place.ends_with(kTar) ? list_class_tars(place) : list_class_folders(place);
    }
    const std::string place = files_.find_first(places("val"));
    return place.ends_with(kTar) || class_folders(place).empty() ? list_flat(place)
                                                                 : list_class_folders(place);
  }
  void prepare() override {
    LabeledFiles::prepare();
    if (!has_boxes_) return;
    const bool is_train = split_ == PhotoSplit::kTrain;
    boxes_.emplace(
        listing(),
        files_.find_first(is_train ? std::vector<std::string>{"bbox/", "ILSVRC/Annotations/CLS-LOC/train/",
                                                              "ILSVRC2012_bbox_train_v2.tar.gz"}
                                   : std::vector<std::string>{"bbox/val/", "ILSVRC/Annotations/CLS-LOC/val/",
                                                              "ILSVRC2012_bbox_val_v3.tgz"}));
  }

 private:
  static constexpr const char* kTar = ".tar";
  inline static const TensorSpec kBox{DType::kFloat32, Shape{1, 5}};

  static std::vector<std::string> places(const std::string& split) {
    const std::string own = "ILSVRC2012_img_" + split;
    return {split + "/", own + "/", "ILSVRC/Data/CLS-LOC/" + split + "/", own + kTar};
  }
  static std::vector<std::string> sorted(std::vector<std::string> names) {
    std::ranges::sort(names);
    return names;
  }
  /// From the training part, or from a list.
  std::vector<std::string> synsets() const {
    std::vector<std::string> names;
    if (const auto train = files_.look_for(places("train"))) {
      if (!train->ends_with(kTar)) return class_folders(*train);
      for (const TarMember& tar : ImageTar(*train).class_tars()) names.push_back(class_of_tar(tar));
      return sorted(std::move(names));
    }
    for (const std::string& line :
         lines_of_file(files_.find_first({"synsets.txt", "LOC_synset_mapping.txt"})))
      names.push_back(valid_utf8(word_of(line, 0)));
    return sorted(std::move(names));
  }
  FileListing list_flat(const std::string& place) const {
    const std::string truth = "ILSVRC2012_validation_ground_truth.txt";
    const std::string path = files_.find_first(
        {"val.txt", "val/val.txt", "LOC_val_solution.csv", truth, "ILSVRC2012_devkit_t12/data/" + truth});
    const std::vector<std::string> lines = lines_of_file(path);
    if (path.ends_with(truth)) return list_truth(place, path, lines);
    const bool is_kaggle = path.ends_with(".csv");
    FlatListing listing(place, synsets(), path);
    for (const std::string& line : lines) {
      if (is_kaggle && line.starts_with("ImageId")) continue;
      if (is_kaggle)
        listing.add(word_of(line, 0) + ".JPEG", word_of(line, 1));
      else
        listing.add_number(word_of(line, 0), word_of(line, 1));
    }
    return listing.finish();
  }
  /// Line k is the number of the class of image k.
  FileListing list_truth(const std::string& place, const std::string& path,
                         const std::vector<std::string>& lines) const {
    std::vector<std::string> by_number =
        synsets_of_devkit(files_.find_first({"meta.mat", "ILSVRC2012_devkit_t12/data/meta.mat"}));
    constexpr size_t kClasses = 1000;  // those after them are groups of classes
    by_number.resize(std::min(by_number.size(), kClasses));
    FlatListing listing(place, sorted(by_number), path);
    for (size_t i = 0; i < lines.size(); ++i) {
      const std::string digits = std::to_string(100'000'001 + i).substr(1);
      size_t number = 0;
      std::from_chars(lines[i].data(), lines[i].data() + lines[i].size(), number);
      if (number < 1 || number > by_number.size())
        throw DataError(path + ":" + std::to_string(i + 1), "has '" + printable(lines[i]) +
                                                                "'; must be a class from 1 to " +
                                                                std::to_string(by_number.size()));
      listing.add("ILSVRC2012_val_" + digits + ".JPEG", by_number[number - 1]);
    }
    return listing.finish();
  }

  PhotoSplit split_;
  bool has_boxes_;
  DatasetFiles files_;
  std::optional<FirstBoxes> boxes_;  // after `prepare`
};

TPACK_REGISTER(Source, Ilsvrc12, "ILSVRC12", "ImageNet");

}  // namespace
}  // namespace tpack
