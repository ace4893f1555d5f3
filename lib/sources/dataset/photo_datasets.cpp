// Datasets of photographs in files.
#include <algorithm>
#include <filesystem>
#include <map>

#include "core/registry.h"
#include "core/text.h"
#include "core/text_encoding.h"
#include "sources/dataset/dataset_files.h"
#include "sources/dataset/flat_listing.h"
#include "sources/dataset/labeled_files.h"
#include "sources/dataset/photo_fields.h"

namespace tpack {
namespace {

namespace fs = std::filesystem;

/// Source: Stanford CS231n. The classes are the synsets, sorted, with their words: "n01443537 goldfish,
/// Carassius auratus".
///
/// Layout, in `dir` or in its folder tiny-imagenet-200: train/SYNSET/images/*.JPEG, val/images/*.JPEG with
/// val/val_annotations.txt (or val/SYNSET/*.JPEG), and words.txt.
class TinyImageNet final : public LabeledFiles {
 public:
  using Params = PhotoFields;
  static Schema<Params> schema() {
    return photo_schema<Params>("Tiny ImageNet: photographs of 200 classes, 64x64.", "TinyImageNet",
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
  using Params = PhotoFields;
  static Schema<Params> schema() {
    return photo_schema<Params>("Places: photographs of 365 kinds of places, 256x256.", "Places365Standard",
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

TPACK_REGISTER(Source, TinyImageNet, "TinyImageNet");
TPACK_REGISTER(Source, Places365Standard, "Places365Standard", "Places365");

}  // namespace
}  // namespace tpack
