#include <algorithm>
#include <filesystem>
#include <map>
#include <unordered_map>

#include "core/digest.h"
#include "core/error.h"
#include "core/registry.h"
#include "core/text.h"
#include "core/text_encoding.h"
#include "dataflow/fitted_data.h"
#include "dataflow/sample_error.h"
#include "dataflow/source.h"
#include "sources/first_images.h"
#include "sources/format/box_annotations.h"
#include "sources/image_file.h"
#include "sources/mirror_pairs.h"
#include "sources/name_list.h"
#include "system/mapped_file.h"

namespace tpack {
namespace {

namespace fs = std::filesystem;

struct ImageBoxesParams : ImageFileFields {
  Ref<Path> images;
  Ref<Path> annotations;
  Ref<Path> only;
  std::vector<std::string> classes;
  std::vector<std::vector<std::string>> mirror_pairs;
  int64_t max_boxes = 100;
  bool difficult = false;
};

/// Images and the boxes of objects in them. Images stay encoded until a map needs their pixels.
class ImageBoxes final : public RandomAccessSource,
                         public SourceFiles,
                         public LearnedValues,
                         public SampleFacts {
 public:
  using Params = ImageBoxesParams;
  static Schema<Params> schema() {
    return with_image_files(
        Schema<Params>(
            "Reads images and the boxes of objects in them, in the format of COCO (a JSON file), Pascal VOC "
            "(a folder of XML files) or YOLO (a folder of text files). Provides `image` and `boxes`, float32 "
            "[max_boxes, 5]: left, top, right and bottom in pixels from the upper left corner, and the class "
            "number; rows after the last box are 0, 0, 0, 0, -1. Augmentors move boxes with the image; boxes "
            "are clipped at the edges of the image, and dropped if less than a pixel is left.")
            .example("ImageBoxes: {images: photos, annotations: instances.json}")
            .field("images", &Params::images, "folder of the images")
            .required()
            .field("annotations", &Params::annotations,
                   "the JSON file of COCO, or a folder with one file per image (1.xml or 1.txt for 1.jpg); "
                   "images without a file have no boxes")
            .required()
            .field("only", &Params::only,
                   "text file with the names of the images to read, one per line, such as "
                   "VOC2012/ImageSets/Main/train.txt; default: all")
            .field("classes", &Params::classes,
                   "class names in order of their numbers; required for YOLO; default: for COCO, the "
                   "categories by id; for VOC, the sorted names")
            .field("mirror_pairs", &Params::mirror_pairs,
                   "pairs of classes to swap when an augmentor mirrors the image: [[left_hand, right_hand]]")
            .field("max_boxes", &Params::max_boxes, between(1, 10'000),
                   "number of rows of `boxes`; no image may have more boxes")
            .field("difficult", &Params::difficult, "also use boxes that VOC marks as difficult"));
  }
  explicit ImageBoxes(Params p)
      : p_(std::move(p)),
        dir_(resolved_path(p_.images)),
        annotations_(resolved_path(p_.annotations)),
        classes_(p_.classes) {}

  /// The names of the classes are in the annotations.
  bool knows_spec() const override { return !classes_.empty(); }
  std::optional<ComponentSpec> declared_image() const override { return image_of_files(p_); }
  Spec spec() const override {
    ComponentSpec boxes{kBoxes, {DType::kFloat32, Shape{p_.max_boxes, 5}}};
    boxes.annotation = Annotation::kBoxes;
    boxes.classes = classes_;
    boxes.mirror_pairs = mirrored_classes();
    return {image_of_files(p_), boxes};
  }
  int64_t size() const override { return std::ssize(images_); }
  bool shuffled() const override { return p_.shuffle; }
  std::string file_of(int64_t index) const override {
    return (fs::path(dir_) / images_[static_cast<size_t>(index)].file).string();
  }
  std::optional<std::string> stable_name(int64_t index) const override {
    return images_[static_cast<size_t>(index)].file;
  }
  std::string fingerprint() const override { return fingerprint_; }
  std::vector<FittedComponent> fitted() const override { return {{name(), kBoxes, {}, classes_}}; }

  void get(int64_t index, const SampleKey& /*key*/, Datapoint& out) const override {
    const AnnotatedImage& of = images_[static_cast<size_t>(index)];
    Image& image = out.renew_image(0);
    read_image_file(file_of(index), p_, image);
    const double width = image.size().width;
    const double height = image.size().height;
    check_size(of, width, height);
    const Tensor& boxes = out.renew(1, {DType::kFloat32, Shape{p_.max_boxes, 5}});
    auto* row = boxes.data<float>();
    for (const AnnotatedBox& box : of.boxes) {
      const auto edge = [](double value, double unit, double most) {
        return static_cast<float>(std::clamp(value * unit, 0.0, most));
      };
      *row++ = edge(box.left, of.relative ? width : 1, width);
      *row++ = edge(box.top, of.relative ? height : 1, height);
      *row++ = edge(box.right, of.relative ? width : 1, width);
      *row++ = edge(box.bottom, of.relative ? height : 1, height);
      *row++ = static_cast<float>(box.label);
      if (row[-3] <= row[-5] || row[-2] <= row[-4])
        throw DataError("box " + std::to_string(&box - of.boxes.data()) + " of " +
                        printable(classes_[static_cast<size_t>(box.label)]) +
                        " is outside of the image, which has " + image.size().str() + " pixels");
    }
    for (auto k = std::ssize(of.boxes); k < p_.max_boxes; ++k) {
      std::fill_n(row, 4, 0.F);
      row[4] = -1;
      row += 5;
    }
  }

  SourceFacts facts() const override {
    SourceFacts facts{.samples = size(), .unit = "images"};
    std::vector<int64_t> counts(classes_.size());
    for (const AnnotatedImage& image : images_)
      for (const AnnotatedBox& box : image.boxes) ++counts[static_cast<size_t>(box.label)];
    for (size_t k = 0; k < classes_.size(); ++k) facts.classes.push_back({classes_[k], counts[k]});
    facts.remarks = remarks_;
    for (std::string& remark : first_.remarks()) facts.remarks.push_back(std::move(remark));
    const MirrorPairs sides = left_and_right(classes_);
    if (!sides.empty() && p_.mirror_pairs.empty()) {
      std::vector<std::string> pairs;
      for (const auto& [left, right] : sides)
        pairs.push_back("[" + classes_[static_cast<size_t>(left)] + ", " +
                        classes_[static_cast<size_t>(right)] + "]");
      facts.remarks.push_back(
          "classes are named left and right; if an augmentor mirrors images (Flip), set mirror_pairs: [" +
          join(pairs, ", ") + "]");
    }
    return facts;
  }

 protected:
  void prepare() override {
    require_folder("ImageBoxes", p_.images);
    require_path("ImageBoxes", p_.annotations, "file or folder");
    images_.clear();
    remarks_.clear();
    classes_ = p_.classes;
    if (fs::is_directory(annotations_))
      read_folder();
    else
      read_coco();
    if (images_.empty()) throw DataError(annotations_, "has no images");
    follow_train();
    for (const AnnotatedImage& image : images_) {
      if (std::ssize(image.boxes) > p_.max_boxes)
        throw DataError(annotations_, printable(image.file) + " has " + std::to_string(image.boxes.size()) +
                                          " boxes; set max_boxes to the most that an image has");
    }
    first_.start(kFirstImages);
    for (const AnnotatedImage& image : images_)
      first_.look_at((fs::path(dir_) / image.file).string(), image.file);
    make_fingerprint();
  }

 private:
  static constexpr const char* kBoxes = "boxes";

  /// Errors: DataError for boxes of an image of another size.
  static void check_size(const AnnotatedImage& of, double width, double height) {
    const auto differs = [](double annotated, double own) { return annotated > 0 && annotated != own; };
    if (!differs(of.width, width) && !differs(of.height, height)) return;
    const bool is_turned = of.width == height && of.height == width;
    const auto text = [](double w, double h) { return shortest(w) + "x" + shortest(h); };
    throw DataError("its annotation is for an image of " + text(of.width, of.height) +
                    " pixels, but the file has " + text(width, height) +
                    (is_turned ? "; if the image is turned by its Exif data, and the boxes were made for the "
                                 "stored image, set upright: false in ImageBoxes"
                               : "; use the images that the boxes were made for, or change the boxes with "
                                 "the images"));
  }
  MirrorPairs mirrored_classes() const {
    std::vector<std::vector<int64_t>> numbers;
    for (const std::vector<std::string>& pair : p_.mirror_pairs) {
      numbers.emplace_back();
      for (const std::string& name : pair) {
        const auto found = std::ranges::find(classes_, name);
        if (found == classes_.end())
          throw ConfigError("ImageBoxes: 'mirror_pairs' has '" + printable(name) + "'" +
                            did_you_mean(name, classes_) + ", which is not one of the classes " +
                            join_first(classes_));
        numbers.back().push_back(found - classes_.begin());
      }
    }
    return mirror_pairs_of("ImageBoxes", numbers, std::ssize(classes_));
  }
  static std::string_view text_of(const MappedFile& file) {
    const auto bytes = file.bytes();
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }
  void read_coco() {
    const MappedFile file(annotations_);
    BoxAnnotations all = read_coco_boxes(text_of(file), annotations_);
    use_names(all.classes);
    renumber(all.images, all.classes);
    NameList names(p_.only);
    std::erase_if(all.images, [&](const AnnotatedImage& image) { return !names.take(image.file); });
    names.check_taken(annotations_);
    std::vector<std::string> missing;
    for (AnnotatedImage& image : all.images) {
      image.file = portable_path(dir_, std::move(image.file));
      if (!fs::exists(fs::path(dir_) / image.file)) missing.push_back(printable(image.file));
    }
    if (!missing.empty())
      throw DataError(dir_, "has no file " + join_first(missing) + " (" + std::to_string(missing.size()) +
                                " of " + std::to_string(all.images.size()) + " images of " + annotations_ +
                                ")");
    images_ = std::move(all.images);
    add_remark(all.crowds, "boxes around groups (iscrowd) are left out");
    add_remark(all.empty, "boxes without area are left out");
  }

  /// The file with the same name for each image.
  void read_folder() {
    std::map<std::string, std::string> by_stem;
    for (const char* extension : {".xml", ".txt"}) {
      for (const auto& entry : fs::directory_iterator(annotations_)) {
        const fs::path& path = entry.path();
        if (path.extension() == extension && path.filename() != "classes.txt")
          by_stem.emplace(path.stem().string(), path.filename().string());
      }
      if (!by_stem.empty()) break;
    }
    if (by_stem.empty())
      throw DataError(annotations_, "has no .xml files (Pascal VOC) and no .txt files (YOLO)");
    const bool is_voc = by_stem.begin()->second.ends_with(".xml");
    if (!is_voc && p_.classes.empty())
      throw ConfigError(p_.annotations.position,
                        "ImageBoxes: YOLO files have only class numbers; set 'classes' to the names");
    size_t used = 0;
    ClassNumbers found;  // of VOC
    NameList names(p_.only);
    for (std::string& name : sorted_names(dir_, [](const fs::directory_entry& entry) {
           const std::string file = entry.path().filename().string();
           return !is_hidden(file) && is_image_file(file);
         })) {
      if (!names.take(name)) continue;
      const auto own = by_stem.find(fs::path(name).stem().string());
      AnnotatedImage image;
      if (own != by_stem.end()) {
        const std::string path = (fs::path(annotations_) / own->second).string();
        const MappedFile file(path);
        image = is_voc ? read_voc_boxes(text_of(file), path, {.difficult = p_.difficult}, found)
                       : read_yolo_boxes(text_of(file), path, std::ssize(p_.classes));
        ++used;
      }
      image.file = std::move(name);
      images_.push_back(std::move(image));
    }
    names.check_taken(dir_);
    if (used == 0)
      throw DataError(annotations_, "has no file named after an image in " + dir_ + "; it has " +
                                        printable(by_stem.begin()->second));
    add_remark(std::ssize(images_) - static_cast<int64_t>(used),
               "images have no annotation, and so no boxes");
    if (names.is_everything())
      add_remark(std::ssize(by_stem) - static_cast<int64_t>(used), "annotations have no image");
    if (!is_voc) return;
    std::vector<std::string> sorted = found.names();
    std::sort(sorted.begin(), sorted.end());
    use_names(sorted);
    renumber(images_, found.names());
  }

  /// Uses the classes of the config or of data.train, or else these.
  void use_names(const std::vector<std::string>& names) {
    if (!classes_.empty()) return;
    const auto train = opened_fit(kBoxes);
    classes_ = train && !train->classes.empty() ? train->classes : names;
  }
  void follow_train() const {
    const auto train = opened_fit(kBoxes);
    if (train && !train->classes.empty() && train->classes != classes_)
      throw DataError(annotations_, "has the classes " + join_first(classes_) + ", but data.train has " +
                                        join_first(train->classes) + "; set the same 'classes' in both");
  }
  /// Replaces the numbers of `names` by those of classes_.
  void renumber(std::vector<AnnotatedImage>& images, const std::vector<std::string>& names) const {
    std::unordered_map<std::string, int64_t> known;
    for (const std::string& name : classes_) known.emplace(name, std::ssize(known));
    std::vector<int64_t> numbers;
    for (const std::string& name : names) numbers.push_back(known.contains(name) ? known.at(name) : -1);
    for (AnnotatedImage& image : images) {
      for (AnnotatedBox& box : image.boxes) {
        const std::string& name = names[static_cast<size_t>(box.label)];
        box.label = numbers[static_cast<size_t>(box.label)];
        if (box.label < 0)
          throw DataError(annotations_, "has the class '" + printable(name) + "'" +
                                            did_you_mean(name, classes_) + ", which is not one of " +
                                            join_first(classes_));
      }
    }
  }
  void add_remark(int64_t count, const char* what) {
    if (count > 0) remarks_.push_back(with_thousands(count) + " " + what);
  }
  void make_fingerprint() {
    Digest digest;
    for (const AnnotatedImage& image : images_) {
      digest.add(size_stamp(image.file, (fs::path(dir_) / image.file).string()));
      for (const AnnotatedBox& box : image.boxes) {
        for (const double edge : {box.left, box.top, box.right, box.bottom}) digest.add(shortest(edge) + " ");
        digest.add(std::to_string(box.label) + "\n");
      }
    }
    fingerprint_ = digest.text();
  }

  Params p_;
  std::string dir_;
  std::string annotations_;
  std::vector<std::string> classes_;
  std::vector<AnnotatedImage> images_;
  std::vector<std::string> remarks_;
  FirstImages first_{p_, "ImageBoxes", "'boxes'"};
  std::string fingerprint_;
};

TPACK_REGISTER(Source, ImageBoxes, "ImageBoxes");

}  // namespace
}  // namespace tpack
