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
#include "sources/first_images.h"
#include "sources/image_file.h"
#include "sources/mask_file.h"
#include "sources/mask_paths.h"
#include "sources/name_list.h"
#include "table/csv_rows.h"

namespace tpack {
namespace {

namespace fs = std::filesystem;

struct ImagePairsParams : ImageFileFields {
  Ref<Path> list;
  Ref<Path> images;
  MaskPaths masks;
  Ref<Path> targets;
  std::string suffix;
  Ref<Path> only;
  std::optional<std::vector<std::string>> classes;
  std::vector<std::vector<int64_t>> colors;
  std::optional<int64_t> ignore;
  std::optional<int64_t> threshold;
  bool alpha = false;
};

/// Images and their masks or targets, by name. Images stay encoded until a map needs their pixels.
class ImagePairs final : public RandomAccessSource, public SourceFiles, public SampleFacts {
 public:
  using Params = ImagePairsParams;
  static Schema<Params> schema() {
    return with_image_files(
        Schema<Params>("Reads the images of a folder, and for each image the mask with the same name in "
                       "another folder (for segmentation), or its target image (for restoration, "
                       "super-resolution, translation). Provides `image` and `mask`, class numbers uint8 "
                       "[height, width], or `target`. Augmentors move both alike.")
            .example("ImagePairs: {images: photos, masks: masks, classes: [background, cell, border]}")
            .field("images", &Params::images, "folder of the images")
            .required()
            .field("list", &Params::list,
                   "a CSV table instead of folders: `images`, `masks` and `targets` are then its columns of "
                   "paths, relative to the table, such as {list: train.csv, images: photo, masks: mask}")
            .field(
                "masks", &Params::masks,
                "folder of the masks, such as masks/1.png for photos/1.jpg; it may be the folder of the "
                "images. Gray values or palette indices are class numbers; with two classes, 255 is the "
                "second one. For masks in colors, see `colors`. In .mat files of BSDS500, class 1 is an edge "
                "that at least half of the people drew: classes: [background, edge]. Or one folder per "
                "class, {cell: cells, border: borders}, with black and white masks: an image without a mask "
                "in a folder has no pixels of that class, and where masks overlap, the later class counts")
            .field("targets", &Params::targets,
                   "folder of the target images, with the same names; only the first frame is read")
            .field("suffix", &Params::suffix,
                   "suffix of the names in the other folder, before the extension: _mask for 1_mask.png")
            .field("only", &Params::only,
                   "text file with the names of the images to read, one per line, such as "
                   "VOC2012/ImageSets/Segmentation/train.txt; default: all")
            .field("classes", &Params::classes,
                   "names of the pixel classes, in the order of their numbers; default: background and "
                   "foreground, or background and the classes of `masks`")
            .field("colors", &Params::colors,
                   "for masks in colors: [red, green, blue] of each class, in the order of `classes`")
            .field("ignore", &Params::ignore, between(0, 255),
                   "value (or palette index) of pixels that do not count: they become 255; set ignore_label: "
                   "255 in costs and metrics")
            .field("threshold", &Params::threshold, between(1, 255),
                   "for black and white masks, also with gray edges or as JPEG: pixels with at least this "
                   "value are the class, others the background; 128 is the middle")
            .field("alpha", &Params::alpha,
                   "the mask is the alpha channel of its file: pixels with an opacity of at least 128 (or "
                   "`threshold`) are the second class. For cut-out pictures, set `masks` to the folder of "
                   "the images"));
  }
  explicit ImagePairs(Params p)
      : p_(std::move(p)),
        dir_(folder_of(p_.images)),
        target_dir_(folder_of(p_.targets)),
        names_(names_of(p_)),
        reader_(code_of(p_, names_)) {
    for (const MaskPaths::Part& part : p_.masks.parts) mask_dirs_.push_back(folder_of(part.path));
    if (p_.masks.empty() && p_.targets.empty())
      throw ConfigError(
          "ImagePairs: set 'masks' or 'targets'; for images alone, use ImageFolder: {dir: ..., classes: "
          "false}");
    if (p_.masks.empty() && (!p_.colors.empty() || p_.ignore))
      throw ConfigError("ImagePairs: 'colors' and 'ignore' apply only to masks; set 'masks' to their folder");
    if (p_.threshold &&
        (p_.masks.empty() || !p_.colors.empty() || p_.ignore || (names_.size() != 2 && !p_.masks.by_class())))
      throw ConfigError(
          "ImagePairs: 'threshold' applies only to masks with two classes of pixels, without 'colors' and "
          "'ignore'");
    if (!p_.only.empty() && !p_.list.empty())
      throw ConfigError(
          "ImagePairs: 'only' applies only to folders; remove other rows from the table of 'list'");
    if (p_.alpha &&
        (p_.masks.empty() || p_.masks.by_class() || !p_.colors.empty() || p_.ignore || names_.size() != 2))
      throw ConfigError(
          "ImagePairs: 'alpha' applies only to masks in one folder with two classes of pixels, without "
          "'colors' and 'ignore'");
    if (p_.masks.by_class() && (p_.classes || !p_.colors.empty() || p_.ignore))
      throw ConfigError(
          "ImagePairs: 'classes', 'colors' and 'ignore' apply only to one mask for all classes; here the "
          "classes are background and the keys of 'masks'");
  }

  Spec spec() const override {
    std::vector<ComponentSpec> all = {image_of_files(p_)};
    if (!p_.masks.empty()) {
      ComponentSpec mask{"mask", {DType::kUInt8, Shape{Shape::kUnknown, Shape::kUnknown}}};
      mask.classes = names_;
      mask.annotation = Annotation::kMask;
      if (p_.ignore) mask.ignored = kIgnoredPixel;
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
    read_image_file(path(dir_, file.name), p_, image);
    size_t at = 1;
    if (!p_.masks.empty()) {
      const Tensor& mask = out.renew(at++, {DType::kUInt8, Shape{image.size().height, image.size().width}});
      read_masks(file, image.size(), mask.span<uint8_t>());
    }
    if (!p_.targets.empty())
      read_image_file(path(target_dir_, file.target), target_form(), out.renew_image(at));
  }

  SourceFacts facts() const override {
    SourceFacts facts{.samples = size(), .unit = "images"};
    facts.remarks = remarks_;
    for (std::string& remark : first_.remarks()) facts.remarks.push_back(std::move(remark));
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
    first_.start(kFirstImages);
    for (const Entry& file : files_) first_.look_at(path(dir_, file.name), file.name);
    make_fingerprint();
  }

 private:
  ImageForm target_form() const {
    ImageForm form = p_;
    form.frames = 1;
    return form;
  }
  struct Entry {
    std::string name;
    std::vector<std::string> masks;  // for each path; empty: no mask of this class
    std::string target;
  };

  static std::vector<std::string> names_of(const Params& p) {
    if (!p.masks.by_class()) return p.classes.value_or(std::vector<std::string>{"background", "foreground"});
    std::vector<std::string> names = {"background"};
    for (const MaskPaths::Part& part : p.masks.parts) names.push_back(part.of_class);
    return names;
  }
  static MaskCode code_of(const Params& p, const std::vector<std::string>& names) {
    if (names.size() < 2 || names.size() > kIgnoredPixel)
      throw ConfigError("ImagePairs: 'classes' has " + std::to_string(names.size()) +
                        " names; must be 2 to 255, including the background");
    if (p.masks.by_class())
      return {.threshold = p.threshold,
              .max_megapixels = p.max_megapixels,
              .upright = p.upright,
              .of_one_class = true};
    MaskCode code{.classes = names.size(),
                  .colors = {},
                  .ignored = p.ignore,
                  .threshold = p.alpha ? p.threshold.value_or(128) : p.threshold,
                  .max_megapixels = p.max_megapixels,
                  .upright = p.upright,
                  .alpha = p.alpha};
    for (const std::vector<int64_t>& color : p.colors) {
      const auto is_bad = [](int64_t value) { return value < 0 || value > 255; };
      if (color.size() != 3 || std::ranges::any_of(color, is_bad))
        throw ConfigError("ImagePairs: a color is [red, green, blue], from 0 to 255");
      code.colors.push_back(
          {static_cast<uint8_t>(color[0]), static_cast<uint8_t>(color[1]), static_cast<uint8_t>(color[2])});
    }
    if (!p.colors.empty() && p.colors.size() != names.size())
      throw ConfigError("ImagePairs: 'colors' has " + std::to_string(p.colors.size()) + " colors for " +
                        std::to_string(names.size()) + " classes; write one for each");
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

  /// The base folder of the paths of images, masks or targets; "" if there are none.
  std::string folder_of(const Ref<Path>& files) const {
    if (files.empty()) return "";
    return p_.list.empty() ? resolved_path(files) : fs::path(resolved_path(p_.list)).parent_path().string();
  }
  void read_masks(const Entry& file, ImageSize size, std::span<uint8_t> mask) const {
    if (!p_.masks.by_class()) return reader_.read(path(mask_dirs_[0], file.masks[0]), size, mask);
    std::fill(mask.begin(), mask.end(), uint8_t{0});
    std::vector<uint8_t> read(mask.size());
    for (size_t part = 0; part < file.masks.size(); ++part) {
      if (file.masks[part].empty()) continue;
      reader_.read(path(mask_dirs_[part], file.masks[part]), size, read);
      for (size_t i = 0; i < mask.size(); ++i)
        if (read[i] != 0) mask[i] = static_cast<uint8_t>(part + 1);
    }
  }
  void read_folders() {
    require_folder("ImagePairs", p_.images);
    const size_t masks = p_.masks.parts.size();
    NameList names(p_.only);
    for (std::string& name : image_names(dir_))
      if (!is_partner(name) && names.take(name))
        files_.push_back({std::move(name), std::vector<std::string>(masks), {}});
    names.check_taken(dir_);
    if (files_.empty()) throw DataError(dir_, "has no images");
    for (size_t part = 0; part < masks; ++part)
      find_partners(p_.masks.parts[part].path, "mask",
                    [part](Entry& file) -> std::string& { return file.masks[part]; });
    if (!p_.targets.empty())
      find_partners(p_.targets, "target", [](Entry& file) -> std::string& { return file.target; });
    if (!p_.masks.by_class()) return;
    std::vector<std::string> alone;
    for (const Entry& file : files_)
      if (std::ranges::all_of(file.masks, &std::string::empty)) alone.push_back(printable(file.name));
    if (!alone.empty())
      throw DataError(dir_, "no folder of 'masks' has a mask for " + join_first(alone) +
                                "; an image with only background needs a black mask in one of them");
  }
  /// Errors: DataError for rows without a path, and for files that are missing.
  void read_list() {
    require_path("ImagePairs", p_.list);
    const std::string list = resolved_path(p_.list);
    size_t images = 0;
    std::vector<size_t> masks;
    std::optional<size_t> targets;
    const auto find = [&](const CsvHeader& header) {
      const auto column = [&](const Ref<Path>& ref) { return header.find({ref.name, ref.position})[0]; };
      images = column(p_.images);
      for (const MaskPaths::Part& part : p_.masks.parts) masks.push_back(column(part.path));
      if (!p_.targets.empty()) targets = column(p_.targets);
    };
    std::vector<std::string> missing;
    CsvRows({{p_.list}}, {}, "ImagePairs").read(find, [&](const CsvRow& row) {
      const auto file = [&](size_t column, bool may_be_empty = false) {
        std::string name(column < row.fields.size() ? trim(row.fields[column]) : "");
        if (name.empty() && !may_be_empty)
          throw DataError(list + ":" + std::to_string(row.line), "a path is missing");
        name = portable_path(dir_, std::move(name));
        if (!name.empty() && !fs::exists(path(dir_, name))) missing.push_back(printable(name));
        return name;
      };
      Entry entry{file(images), {}, {}};
      for (const size_t column : masks) entry.masks.push_back(file(column, p_.masks.by_class()));
      if (targets) entry.target = file(*targets);
      files_.push_back(std::move(entry));
    });
    if (files_.empty()) throw DataError(list, "lists no images");
    if (!missing.empty())
      throw DataError(
          list, std::to_string(missing.size()) + " files that it lists are missing: " + join_first(missing));
  }

  /// Whether a file next to the images is a mask or target, by its suffix.
  bool is_partner(const std::string& name) const {
    const auto is_here = [this](const Ref<Path>& dir) {
      std::error_code failure;
      return !dir.empty() && fs::equivalent(resolved_path(dir), dir_, failure);
    };
    const bool are_together =
        is_here(p_.targets) || std::ranges::any_of(p_.masks.parts, is_here, &MaskPaths::Part::path);
    return are_together && !p_.suffix.empty() && fs::path(name).stem().string().ends_with(p_.suffix);
  }

  /// MAT files of masks may be in the folder of the images, so other files are ignored.
  static std::vector<std::string> mask_names(const std::string& folder) {
    const std::vector<std::string> edges = sorted_names(folder, [](const fs::directory_entry& entry) {
      const fs::path name = entry.path().filename();
      return !is_hidden(name.string()) && name.extension() == ".mat";
    });
    return edges.empty() ? image_names(folder) : edges;
  }

  static std::string stem_of(const std::string& name) { return composed(fs::path(name).stem().string()); }
  /// Errors: DataError with the images that have none or several.
  template <class Partner>
  void find_partners(const Ref<Path>& dir, const std::string& what, const Partner& partner_of) {
    require_folder("ImagePairs", dir);
    const std::string folder = resolved_path(dir);
    std::map<std::string, std::string> by_stem;
    const bool are_masks = what == "mask";
    for (const std::string& name : are_masks ? mask_names(folder) : image_names(folder)) {
      const auto [twin, is_new] = by_stem.emplace(stem_of(name), name);
      if (!is_new)
        throw DataError(folder, "has " + printable(twin->second) + " and " + printable(name) +
                                    ", which have the same name before their extension");
    }
    std::vector<std::string> alone;
    size_t used = 0;
    for (Entry& file : files_) {
      const auto found = by_stem.find(stem_of(file.name) + composed(p_.suffix));
      if (found == by_stem.end()) {
        alone.push_back(printable(file.name));
      } else {
        partner_of(file) = found->second;
        ++used;
      }
    }
    const bool may_lack_some = are_masks && p_.masks.by_class();
    if (!alone.empty() && (used == 0 || !may_lack_some))
      throw DataError(folder, "has no " + what + " for " + join_first(alone) + " (" +
                                  std::to_string(alone.size()) + " of " + std::to_string(files_.size()) +
                                  " images)" +
                                  (p_.suffix.empty() && used == 0 && !by_stem.empty()
                                       ? "; it has " + printable(by_stem.begin()->second) +
                                             "; for names such as 1_mask.png, set suffix: _mask"
                                       : ""));
    if (used < by_stem.size() && p_.only.empty())
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
      for (size_t part = 0; part < file.masks.size(); ++part)
        if (!file.masks[part].empty()) add(path(mask_dirs_[part], file.masks[part]));
      if (!p_.targets.empty()) add(path(target_dir_, file.target));
    }
    fingerprint_ = digest.text();
  }

  Params p_;
  std::string dir_;
  std::vector<std::string> mask_dirs_;
  std::string target_dir_;
  std::vector<std::string> names_;  // of the classes
  MaskReader reader_;
  std::vector<Entry> files_;
  std::vector<std::string> remarks_;
  FirstImages first_{p_, "ImagePairs", p_.masks.empty() ? "" : "'masks'"};
  std::string fingerprint_;
};

TPACK_REGISTER(Source, ImagePairs, "ImagePairs");

}  // namespace
}  // namespace tpack
