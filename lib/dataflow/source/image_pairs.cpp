#include <algorithm>
#include <filesystem>
#include <map>

#include "core/digest.h"
#include "core/error.h"
#include "core/registry.h"
#include "core/text.h"
#include "core/text_encoding.h"
#include "dataflow/sample_error.h"
#include "dataflow/source.h"
#include "dataflow/source/csv_rows.h"
#include "dataflow/source/image_file.h"
#include "dataflow/source/mask_file.h"

namespace tpack {
namespace {

namespace fs = std::filesystem;

struct ImagePairsParams {
  Ref<Path> list;
  Ref<Path> images;
  Ref<Path> masks;
  Ref<Path> targets;
  std::string suffix;
  std::vector<std::string> classes = {"background", "foreground"};
  std::vector<std::vector<int64_t>> colors;
  std::optional<int64_t> ignore;
  Color color = Color::kRgb;
  Depth depth = Depth::k8;
  int frames = 1;
  bool shuffle = true;
};

/// Images and what belongs to them, by name. Images stay encoded until a map needs their pixels.
class ImagePairs final : public RandomAccessSource {
 public:
  using Params = ImagePairsParams;
  static Schema<Params> schema() {
    return Schema<Params>(
               "Reads the images of a folder, and for each one the mask of the same name in another folder "
               "(for "
               "segmentation), or the image that it shall become (for restoration, super-resolution, "
               "translation). Gives `image` and `mask`, class numbers uint8 [height, width], or `target`. "
               "Augmentors "
               "move both alike. Images are turned upright as their Exif data say.")
        .example("ImagePairs: {images: photos, masks: masks, classes: [background, cell, border]}")
        .field("images", &Params::images, "folder of the images")
        .required()
        .field(
            "list", &Params::list,
            "a CSV table in place of folders: `images`, `masks` and `targets` are then its columns of paths, "
            "which are relative to the table, such as {list: train.csv, images: photo, masks: mask}")
        .field("masks", &Params::masks,
               "folder of the masks, photos/1.jpg with masks/1.png: gray values or places in a palette are "
               "class "
               "numbers, and of two classes 255 is the second one; or colors, see `colors`; or .mat files of "
               "BSDS500, in "
               "which class 1 is an edge that at least half of the people drew: classes: [background, edge]; "
               "they may be in the folder of the images")
        .field("targets", &Params::targets,
               "folder of the images that images of the same name shall become; of several frames, the first")
        .field("suffix", &Params::suffix,
               "what names in the other folder have before their extension: _mask of 1_mask.png")
        .field("classes", &Params::classes, "names of the classes of pixels, in the order of their numbers")
        .field("colors", &Params::colors,
               "of masks in colors: [red, green, blue] of each class, in the order of `classes`")
        .field("ignore", &Params::ignore, between(0, 255),
               "value (or place in the palette) of pixels that do not count: they get 255; costs and metrics "
               "then "
               "need ignore_label: 255")
        .field("color", &Params::color, "color format of the decoded images")
        .field("depth", &Params::depth, kDepthDoc)
        .field("frames", &Params::frames, between(1, kMostFrames), kFramesDoc)
        .field("shuffle", &Params::shuffle, "use a new order in each pass");
  }
  explicit ImagePairs(Params p)
      : p_(std::move(p)),
        dir_(folder_of(p_.images)),
        mask_dir_(folder_of(p_.masks)),
        target_dir_(folder_of(p_.targets)),
        masks_(code_of(p_)) {
    if (p_.masks.empty() && p_.targets.empty())
      throw ConfigError(
          "ImagePairs: write 'masks' or 'targets'; for images alone, ImageFolder reads folders of classes");
    if (p_.masks.empty() && (!p_.colors.empty() || p_.ignore))
      throw ConfigError("ImagePairs: 'colors' and 'ignore' are of masks; set 'masks' to their folder");
  }

  Spec spec() const override {
    std::vector<ComponentSpec> all = {image_of_files(image_form())};
    if (!p_.masks.empty()) {
      ComponentSpec mask{"mask", {DType::kUInt8, Shape{Shape::kUnknown, Shape::kUnknown}}};
      mask.classes = p_.classes;
      mask.annotation = Annotation::kMask;
      all.push_back(std::move(mask));
    }
    if (!p_.targets.empty()) {
      all.push_back(image_of_files(target_form()));
      all.back().name = "target";
    }
    return Spec(std::move(all));
  }
  int64_t size() const override { return std::ssize(files_); }
  bool shuffled() const override { return p_.shuffle; }
  std::string file_of(int64_t index) const override {
    return path(dir_, files_[static_cast<size_t>(index)].name);
  }
  std::optional<std::string> stable_name(int64_t index) const override {
    return files_[static_cast<size_t>(index)].name;
  }
  std::string fingerprint() const override { return fingerprint_; }

  void get(int64_t index, const SampleKey& /*key*/, Datapoint& out) const override {
    const Entry& file = files_[static_cast<size_t>(index)];
    Image& image = out.renew_image(0);
    read_image_file(path(dir_, file.name), image_form(), image);
    size_t at = 1;
    if (!p_.masks.empty()) {
      const std::vector<uint8_t> classes = masks_.read(path(mask_dir_, file.mask), image.size());
      const Tensor& mask = out.renew(at++, {DType::kUInt8, Shape{image.size().height, image.size().width}});
      std::copy(classes.begin(), classes.end(), mask.data<uint8_t>());
    }
    if (!p_.targets.empty())
      read_image_file(path(target_dir_, file.target), target_form(), out.renew_image(at));
  }

  SourceFacts facts() const override {
    SourceFacts facts{.samples = size(), .unit = "images"};
    facts.remarks = remarks_;
    return facts;
  }

 protected:
  void prepare() override {
    files_.clear();
    remarks_.clear();
    if (p_.list.empty())
      read_folders();
    else
      read_list();
    make_fingerprint();
  }

 private:
  ImageForm image_form() const { return {p_.color, p_.depth, p_.frames}; }
  ImageForm target_form() const { return {p_.color, p_.depth}; }
  struct Entry {
    std::string name;
    std::string mask;
    std::string target;
  };

  static MaskCode code_of(const Params& p) {
    if (p.classes.size() < 2 || p.classes.size() > kIgnoredPixel)
      throw ConfigError("ImagePairs: 'classes' has " + std::to_string(p.classes.size()) +
                        " names; must be 2 to 255, that of the background included");
    MaskCode code{.classes = p.classes.size(), .colors = {}, .ignored = p.ignore};
    for (const std::vector<int64_t>& color : p.colors) {
      const auto is_bad = [](int64_t value) { return value < 0 || value > 255; };
      if (color.size() != 3 || std::ranges::any_of(color, is_bad))
        throw ConfigError("ImagePairs: a color is [red, green, blue], from 0 to 255");
      code.colors.push_back(
          {static_cast<uint8_t>(color[0]), static_cast<uint8_t>(color[1]), static_cast<uint8_t>(color[2])});
    }
    if (!p.colors.empty() && p.colors.size() != p.classes.size())
      throw ConfigError("ImagePairs: 'colors' has " + std::to_string(p.colors.size()) + " colors for " +
                        std::to_string(p.classes.size()) + " classes; write one for each");
    return code;
  }
  static std::string path(const std::string& folder, const std::string& name) {
    return (fs::path(folder) / name).string();
  }
  static std::vector<std::string> image_names(const std::string& folder) {
    return sorted_names(folder, [](const fs::directory_entry& entry) {
      const std::string name = entry.path().filename().string();
      return !is_hidden(name) && is_image_file(name);
    });
  }

  /// The folder that the paths of images, masks or targets are relative to; "" if there are none.
  std::string folder_of(const Ref<Path>& files) const {
    if (files.empty()) return "";
    return p_.list.empty() ? resolved_path(files) : fs::path(resolved_path(p_.list)).parent_path().string();
  }
  void read_folders() {
    require_folder("ImagePairs", p_.images);
    for (std::string& name : image_names(dir_)) files_.push_back({std::move(name), {}, {}});
    if (files_.empty()) throw DataError(dir_, "has no images");
    if (!p_.masks.empty()) find_partners(p_.masks, "mask", &Entry::mask);
    if (!p_.targets.empty()) find_partners(p_.targets, "target", &Entry::target);
  }
  /// Errors: DataError for rows without a path, and for files that are missing.
  void read_list() {
    require_path("ImagePairs", p_.list);
    const std::string list = resolved_path(p_.list);
    std::vector<std::pair<std::string Entry::*, size_t>> columns;
    const auto find = [&](const CsvHeader& header) {
      for (const auto& [member, ref] :
           {std::pair{&Entry::name, &p_.images}, std::pair{&Entry::mask, &p_.masks},
            std::pair{&Entry::target, &p_.targets}}) {
        if (!ref->empty()) columns.emplace_back(member, header.find({ref->name, ref->position})[0]);
      }
    };
    std::vector<std::string> missing;
    CsvRows({{p_.list}}, {}, "ImagePairs").read(find, [&](const CsvRow& row) {
      Entry entry;
      for (const auto& [member, column] : columns) {
        const std::string_view file = column < row.fields.size() ? trim(row.fields[column]) : "";
        if (file.empty()) throw DataError(list + ":" + std::to_string(row.line), "a path is missing");
        entry.*member = file;
        if (!fs::exists(path(dir_, entry.*member))) missing.push_back(printable(file));
      }
      files_.push_back(std::move(entry));
    });
    if (files_.empty()) throw DataError(list, "lists no images");
    if (!missing.empty())
      throw DataError(
          list, std::to_string(missing.size()) + " files that it lists are missing: " + join_first(missing));
  }

  /// Masks that are MAT files may be in the folder of the images, so other files do not count next to them.
  static std::vector<std::string> mask_names(const std::string& folder) {
    const std::vector<std::string> edges = sorted_names(folder, [](const fs::directory_entry& entry) {
      const fs::path name = entry.path().filename();
      return !is_hidden(name.string()) && name.extension() == ".mat";
    });
    return edges.empty() ? image_names(folder) : edges;
  }

  /// Errors: DataError with the images that have none, or of which there are several.
  void find_partners(const Ref<Path>& dir, const std::string& what, std::string Entry::*partner) {
    require_folder("ImagePairs", dir);
    const std::string folder = resolved_path(dir);
    std::map<std::string, std::string> by_stem;
    for (const std::string& name : partner == &Entry::mask ? mask_names(folder) : image_names(folder)) {
      const auto [twin, is_new] = by_stem.emplace(fs::path(name).stem().string(), name);
      if (!is_new)
        throw DataError(folder, "has " + printable(twin->second) + " and " + printable(name) +
                                    ", which have the same name before their extension");
    }
    std::vector<std::string> alone;
    size_t used = 0;
    for (Entry& file : files_) {
      const auto found = by_stem.find(fs::path(file.name).stem().string() + p_.suffix);
      if (found == by_stem.end()) {
        alone.push_back(printable(file.name));
      } else {
        file.*partner = found->second;
        ++used;
      }
    }
    if (!alone.empty())
      throw DataError(folder, "has no " + what + " for " + join_first(alone) + " (" +
                                  std::to_string(alone.size()) + " of " + std::to_string(files_.size()) +
                                  " images)" +
                                  (p_.suffix.empty() && used == 0 && !by_stem.empty()
                                       ? "; it has " + printable(by_stem.begin()->second) +
                                             "; for names such as 1_mask.png, set suffix: _mask"
                                       : ""));
    if (used < by_stem.size())
      remarks_.push_back(with_thousands(std::ssize(by_stem) - static_cast<int64_t>(used)) + " " + what +
                         "s have no image");
  }
  void make_fingerprint() {
    Digest digest;
    const auto add = [&digest](const std::string& file) {
      digest.add(size_stamp(fs::path(file).filename().string(), file));
    };
    for (const Entry& file : files_) {
      add(path(dir_, file.name));
      if (!p_.masks.empty()) add(path(mask_dir_, file.mask));
      if (!p_.targets.empty()) add(path(target_dir_, file.target));
    }
    fingerprint_ = digest.text();
  }

  Params p_;
  std::string dir_;
  std::string mask_dir_;
  std::string target_dir_;
  MaskReader masks_;
  std::vector<Entry> files_;
  std::vector<std::string> remarks_;
  std::string fingerprint_;
};

TPACK_REGISTER(Source, ImagePairs, "ImagePairs");

}  // namespace
}  // namespace tpack
