// Datasets of photographs in files.
#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <map>

#include "core/error.h"
#include "core/registry.h"
#include "core/text.h"
#include "core/text_encoding.h"
#include "sources/dataset/dataset_files.h"
#include "sources/dataset/labeled_files.h"
#include "sources/format/mat_file.h"
#include "system/mapped_file.h"

namespace tpack {
namespace {

namespace fs = std::filesystem;

enum class PhotoSplit : uint8_t { kTrain, kVal };

}  // namespace

template <>
struct EnumNames<PhotoSplit> {
  static constexpr std::array<std::pair<const char*, PhotoSplit>, 2> kNames = {
      {{"train", PhotoSplit::kTrain}, {"val", PhotoSplit::kVal}}};
};

namespace {

struct PhotoParams : ImageFileFields {
  PhotoSplit split = PhotoSplit::kTrain;
  Ref<Path> dir;
};

/// `train_and_val`: the number of images of the splits.
Schema<PhotoParams> photo_schema(const std::string& summary, const std::string& name,
                                 const char* train_and_val) {
  return with_image_files(Schema<PhotoParams>(summary)
                              .example(name + ": {split: val, shuffle: false}")
                              .field("split", &PhotoParams::split, train_and_val)
                              .field("dir", &PhotoParams::dir,
                                     "folder of the dataset, or its parent folder; default: TPACK_DATASET"));
}

std::vector<std::string> lines_of_file(const std::string& path) {
  const MappedFile file(path);
  const auto bytes = file.bytes();
  std::vector<std::string> lines;
  for (const std::string& line : split({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, '\n'))
    if (!trim(line).empty()) lines.emplace_back(trim(line));
  return lines;
}

std::string word_of(const std::string& line, size_t number, const char* separators = " \t,") {
  size_t begin = 0;
  for (;; --number) {
    const size_t end = std::min(line.find_first_of(separators, begin), line.size());
    if (number == 0) return line.substr(begin, end - begin);
    if (end == line.size()) return {};
    begin = end + 1;
  }
}

/// The classes of the images of one folder. Errors: DataError with the file of the classes.
class FlatListing {
 public:
  FlatListing(std::string folder, std::vector<std::string> classes, std::string list)
      : listing_{std::move(folder), std::move(classes), {}}, list_(std::move(list)) {
    for (const std::string& name : listing_.classes)
      numbers_.emplace(name, static_cast<int32_t>(numbers_.size()));
  }

  void add(const std::string& file, const std::string& synset) {
    const auto found = numbers_.find(synset);
    if (found == numbers_.end())
      throw DataError(list_, "has the class '" + printable(synset) + "' of " + printable(file) +
                                 ", which is not one of the " + std::to_string(numbers_.size()) + " classes");
    listing_.files.push_back({file, found->second});
  }
  /// A class by its number, from 0.
  void add_number(const std::string& file, const std::string& digits) {
    size_t number = 0;
    const char* const end = digits.data() + digits.size();
    const auto [stop, failure] = std::from_chars(digits.data(), end, number);
    if (failure != std::errc{} || stop != end || number >= listing_.classes.size())
      throw DataError(list_, "has the class '" + printable(digits) + "' of " + printable(file) +
                                 "; must be from 0 to " + std::to_string(listing_.classes.size() - 1));
    listing_.files.push_back({file, static_cast<int32_t>(number)});
  }
  /// Errors: DataError for files that are missing.
  FileListing finish() {
    std::vector<std::string> missing;
    for (const FileListing::Entry& file : listing_.files)
      if (!fs::is_regular_file(fs::path(listing_.folder) / file.path))
        missing.push_back(printable(file.path));
    if (!missing.empty())
      throw DataError(listing_.folder,
                      "has no file " + join_first(missing) + " (" + std::to_string(missing.size()) + " of " +
                          std::to_string(listing_.files.size()) + " images of " + list_ + ")");
    return std::move(listing_);
  }

 private:
  FileListing listing_;
  std::string list_;
  std::map<std::string, int32_t> numbers_;
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

/// Source: Russakovsky et al. 2015, "ImageNet Large Scale Visual Recognition Challenge". The classes are the
/// synsets, such as n01440764, sorted, as in most published models.
///
/// Layouts, in `dir` or in its folder ilsvrc12: train/SYNSET/*.JPEG, and val/SYNSET/*.JPEG or val/*.JPEG with
/// a list, which is val.txt (of Caffe: the number of the sorted synset), LOC_val_solution.csv (of Kaggle), or
/// ILSVRC2012_validation_ground_truth.txt with meta.mat (of the development kit). Kaggle's folders
/// ILSVRC/Data/CLS-LOC/train and val are found, too.
class Ilsvrc12 final : public LabeledFiles {
 public:
  using Params = PhotoParams;
  static Schema<Params> schema() {
    return photo_schema("ImageNet 2012: photographs of 1000 classes.", "ILSVRC12",
                        "train: 1,281,167 images; val: 50,000");
  }
  explicit Ilsvrc12(const Params& p)
      : LabeledFiles(p, "ILSVRC12"), split_(p.split), files_("ILSVRC12", p.dir) {}

 protected:
  FileListing list() const override {
    if (split_ == PhotoSplit::kTrain) return list_class_folders(files_.find_first(folders("train")));
    const std::string folder = files_.find_first(folders("val"));
    return class_folders(folder).empty() ? list_flat(folder) : list_class_folders(folder);
  }

 private:
  static std::vector<std::string> folders(const std::string& split) {
    return {split + "/", "ILSVRC2012_img_" + split + "/", "ILSVRC/Data/CLS-LOC/" + split + "/"};
  }
  static std::vector<std::string> sorted(std::vector<std::string> names) {
    std::ranges::sort(names);
    return names;
  }
  /// From the folders of the training part, or from a list.
  std::vector<std::string> synsets() const {
    if (const auto train = files_.look_for(folders("train"))) return class_folders(*train);
    std::vector<std::string> names;
    for (const std::string& line :
         lines_of_file(files_.find_first({"synsets.txt", "LOC_synset_mapping.txt"})))
      names.push_back(valid_utf8(word_of(line, 0)));
    return sorted(std::move(names));
  }
  FileListing list_flat(const std::string& folder) const {
    const std::string truth = "ILSVRC2012_validation_ground_truth.txt";
    const std::string path = files_.find_first(
        {"val.txt", "val/val.txt", "LOC_val_solution.csv", truth, "ILSVRC2012_devkit_t12/data/" + truth});
    const std::vector<std::string> lines = lines_of_file(path);
    if (path.ends_with(truth)) return list_truth(folder, path, lines);
    const bool is_kaggle = path.ends_with(".csv");
    FlatListing listing(folder, synsets(), path);
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
  FileListing list_truth(const std::string& folder, const std::string& path,
                         const std::vector<std::string>& lines) const {
    std::vector<std::string> by_number =
        synsets_of_devkit(files_.find_first({"meta.mat", "ILSVRC2012_devkit_t12/data/meta.mat"}));
    constexpr size_t kClasses = 1000;  // those after them are groups of classes
    by_number.resize(std::min(by_number.size(), kClasses));
    FlatListing listing(folder, sorted(by_number), path);
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
  DatasetFiles files_;
};

/// Source: Stanford CS231n. The classes are the synsets, sorted, with their words: "n01443537 goldfish,
/// Carassius auratus".
///
/// Layout, in `dir` or in its folder tiny-imagenet-200: train/SYNSET/images/*.JPEG, val/images/*.JPEG with
/// val/val_annotations.txt (or val/SYNSET/*.JPEG), and words.txt.
class TinyImageNet final : public LabeledFiles {
 public:
  using Params = PhotoParams;
  static Schema<Params> schema() {
    return photo_schema("Tiny ImageNet: photographs of 200 classes, 64x64.", "TinyImageNet",
                        "train: 100,000 images; val: 10,000");
  }
  explicit TinyImageNet(const Params& p)
      : LabeledFiles(p, "TinyImageNet"), split_(p.split), files_("TinyImageNet", p.dir) {}

 protected:
  FileListing list() const override {
    FileListing listing = split_ == PhotoSplit::kTrain
                              ? list_class_folders(files_.find_first({"train/"}), "images")
                              : list_validation(files_.find_first({"val/"}));
    add_words(listing.classes);
    return listing;
  }

 private:
  FileListing list_validation(const std::string& folder) const {
    const std::string images = (fs::path(folder) / "images").string();
    if (!fs::is_directory(images)) return list_class_folders(folder);
    const std::string path = files_.find_first({"val/val_annotations.txt"});
    const std::vector<std::string> lines = lines_of_file(path);
    std::vector<std::string> synsets;
    if (const auto train = files_.look_for({"train/"}))
      synsets = class_folders(*train);
    else
      for (const std::string& line : lines) synsets.push_back(word_of(line, 1));
    std::ranges::sort(synsets);
    synsets.erase(std::unique(synsets.begin(), synsets.end()), synsets.end());
    FlatListing listing(images, synsets, path);
    for (const std::string& line : lines) listing.add(word_of(line, 0), word_of(line, 1));
    return listing.finish();
  }
  void add_words(std::vector<std::string>& synsets) const {
    const auto path = files_.look_for({"words.txt"});
    if (!path) return;
    std::map<std::string, std::string> words;
    for (const std::string& line : lines_of_file(*path))
      words.emplace(word_of(line, 0), word_of(line, 1, "\t"));
    for (std::string& synset : synsets)
      if (const auto found = words.find(synset); found != words.end())
        synset += " " + valid_utf8(found->second);
  }

  PhotoSplit split_;
  DatasetFiles files_;
};

/// Source: Zhou et al. 2017, "Places: A 10 Million Image Database for Scene Recognition". The classes are the
/// names of the folders, sorted.
///
/// Layout of places365standard_easyformat, in `dir` or in its folders places365 and places365_standard:
/// train/CLASS/*.jpg and val/CLASS/*.jpg.
class Places365Standard final : public LabeledFiles {
 public:
  using Params = PhotoParams;
  static Schema<Params> schema() {
    return photo_schema("Places: photographs of 365 kinds of places, 256x256.", "Places365Standard",
                        "train: 1,803,460 images; val: 36,500");
  }
  explicit Places365Standard(const Params& p)
      : LabeledFiles(p, "Places365Standard"), split_(p.split), files_("Places365Standard", p.dir) {}

 protected:
  FileListing list() const override {
    const std::string split = split_ == PhotoSplit::kTrain ? "train/" : "val/";
    return list_class_folders(files_.find_first({"places365_standard/" + split, split}));
  }

 private:
  PhotoSplit split_;
  DatasetFiles files_;
};

TPACK_REGISTER(Source, Ilsvrc12, "ILSVRC12", "ImageNet");
TPACK_REGISTER(Source, TinyImageNet, "TinyImageNet");
TPACK_REGISTER(Source, Places365Standard, "Places365Standard", "Places365");

}  // namespace
}  // namespace tpack
