#include <algorithm>
#include <filesystem>
#include <set>

#include "core/digest.h"
#include "core/error.h"
#include "core/registry.h"
#include "core/text.h"
#include "core/text_encoding.h"
#include "dataflow/count_classes.h"
#include "dataflow/fitted_data.h"
#include "dataflow/source.h"
#include "sources/first_images.h"
#include "sources/image_file.h"
#include "system/file_io.h"
#include "table/csv.h"

namespace tpack {
namespace {

namespace fs = std::filesystem;

/// Files in the folder that are not read.
struct LeftOut {
  int64_t files = 0;
  std::set<std::string> extensions;
  std::vector<std::string> folders;  // inside class folders
  std::vector<std::string> empty_classes;
  std::vector<std::string> absent;  // classes of data.train without a folder
  std::vector<std::string> runs;    // run folders of tpack

  void add(const std::string& file) {
    ++files;
    const std::string extension = fs::path(file).extension().string();
    extensions.insert(extension.empty() ? "no extension" : printable(extension));
  }
  std::vector<std::string> remarks() const {
    std::vector<std::string> all;
    if (files > 0) {
      all.push_back("ignored " + with_thousands(files) + (files == 1 ? " file (" : " files (") +
                    join(std::vector<std::string>(extensions.begin(), extensions.end()), ", ") + ")");
    }
    if (!folders.empty()) all.push_back("not read, inside class folders: " + join_first(folders));
    if (!empty_classes.empty()) all.push_back("class folders without images: " + join_first(empty_classes));
    if (!runs.empty()) all.push_back("not read, because runs of tpack wrote them: " + join_first(runs));
    if (!absent.empty()) all.push_back("no folders for the classes " + join_first(absent) + " of data.train");
    return all;
  }
};

/// A folder with the files of a run, or with folders of runs.
bool has_run(const fs::path& folder) {
  std::error_code unknown;
  const auto is_run = [&unknown](const fs::path& path) {
    return fs::exists(path / "config.yaml", unknown) && fs::exists(path / "log.txt", unknown);
  };
  if (is_run(folder)) return true;
  for (fs::directory_iterator at(folder, unknown), end; !unknown && at != end; at.increment(unknown))
    if (at->is_directory(unknown) && is_run(at->path())) return true;
  return false;
}

struct ImageFolderParams : ImageFileFields {
  Ref<Path> dir;
  bool classes = true;
};

/// Images stay encoded until a map needs their pixels.
class ImageFolder final : public RandomAccessSource,
                          public SourceFiles,
                          public LearnedValues,
                          public SampleFacts {
 public:
  using Params = ImageFolderParams;
  static Schema<Params> schema() {
    return with_image_files(
        Schema<Params>(
            "Reads images (JPEG, PNG, GIF, BMP, TIFF, WebP or PNM) from a folder with one folder per class: "
            "DIR/CLASS/NAME.jpg. Ignores hidden files and folders, __MACOSX, and run folders of tpack.")
            .example("ImageFolder: {dir: photos/train}")
            .field("dir", &Params::dir,
                   "the folder; its folders, in alphabetical order (by value if all are numbers), are the "
                   "classes. Other flows use the classes of data.train: a folder may be missing, but none "
                   "may be new")
            .required()
            .shorthand()
            .field("classes", &Params::classes,
                   "false: read images without labels from `dir` and all folders below it"));
  }
  explicit ImageFolder(Params p) : p_(std::move(p)), dir_(resolved_path(p_.dir)) {
    // Class names are part of the spec; a missing folder is an error only when it is read.
    if (p_.classes && fs::is_directory(dir_)) classes_ = printable_names(folder_names());
  }

  Spec spec() const override {
    if (!p_.classes) return {image_of_files(p_)};
    const auto train = declared_fit(kLabel);
    const std::vector<std::string>& classes = train && !train->classes.empty() ? train->classes : classes_;
    return {image_of_files(p_), {kLabel, {DType::kInt32, {}}, false, classes}};
  }
  std::vector<FittedComponent> fitted() const override {
    if (!p_.classes) return {};
    return {{name(), kLabel, {}, classes_}};
  }
  const char* path_field() const override { return "dir"; }
  int64_t size() const override { return static_cast<int64_t>(files_.size()); }
  bool shuffled() const override { return p_.shuffle; }

  void prepare() override {
    require_folder("ImageFolder", p_.dir);
    files_.clear();
    left_out_ = {};
    if (p_.classes)
      list_classes();
    else
      list_all();
    look_at_first();
  }

  SourceFacts facts() const override {
    SourceFacts facts{.samples = size(), .unit = "images"};
    if (p_.classes) facts.classes = count_classes(classes_, *class_numbers(kLabel));
    facts.remarks = left_out_.remarks();
    for (std::string& remark : first_.remarks()) facts.remarks.push_back(std::move(remark));
    return facts;
  }
  std::string fingerprint() const override {
    Digest digest;
    for (const Entry& file : files_) digest.add(size_stamp(name_of_file(file), path_of(file)));
    return digest.text();
  }

  std::string file_of(int64_t index) const override { return path_of(files_[static_cast<size_t>(index)]); }
  std::optional<std::vector<int32_t>> class_numbers(const std::string& /*component*/) const override {
    std::vector<int32_t> labels;
    for (const Entry& file : files_) labels.push_back(file.label);
    return labels;
  }
  std::optional<std::string> stable_name(int64_t index) const override {
    return name_of_file(files_[static_cast<size_t>(index)]);
  }

  void get(int64_t index, const SampleKey& /*key*/, Datapoint& out) const override {
    const Entry& file = files_[static_cast<size_t>(index)];
    read_image_file(path_of(file), p_, out.renew_image(0));
    if (p_.classes) *out.renew(1, {DType::kInt32, {}}).data<int32_t>() = file.label;
  }

 private:
  struct Entry {
    int32_t label = 0;
    std::string name;  // in the folder of the class; without classes, in `dir`
  };

  static constexpr const char* kLabel = "label";

  /// Errors: ConfigError for a folder that is not a class of data.train.
  int32_t label_of(const std::string& folder) const {
    const auto found = std::find(classes_.begin(), classes_.end(), folder);
    if (found != classes_.end()) return static_cast<int32_t>(found - classes_.begin());
    throw ConfigError(p_.dir.position, "ImageFolder: " + dir_ + " has a folder '" + folder +
                                           "', which is not a class of data.train" +
                                           did_you_mean(folder, classes_) + "; data.train has " +
                                           join_first(classes_) +
                                           "; rename or move the folder, or add it to the training data");
  }

  void list_classes() {
    const std::vector<std::string> folders = folder_names(&left_out_.runs);
    const auto train = opened_fit(kLabel);
    classes_ = train && !train->classes.empty() ? train->classes : printable_names(folders);
    folders_.assign(classes_.size(), "");
    for (const std::string& folder : folders) list_class(folder, label_of(valid_utf8(folder)));
    for (size_t label = 0; label < classes_.size(); ++label)
      if (folders_[label].empty()) left_out_.absent.push_back(classes_[label]);
    for (const std::string& name : sorted_names(dir_, is_other_file)) left_out_.add(name);
    if (!files_.empty()) return;
    reject_flat_folder();
    throw DataError(dir_, "has no images; ImageFolder reads DIR/CLASS/NAME with the ending " +
                              image_file_endings() + " (" + std::to_string(classes_.size()) +
                              " class folders were found" +
                              (left_out_.folders.empty()
                                   ? ")"
                                   : "; folders inside them are not read: " + join_first(left_out_.folders) +
                                         "; check whether 'dir' should be one of its folders)"));
  }

  /// Images in the folder and below it, in the order of their paths.
  void list_all() {
    folders_ = {""};
    std::error_code failure;
    fs::recursive_directory_iterator at(dir_, failure);
    for (const fs::recursive_directory_iterator end; !failure && at != end; at.increment(failure)) {
      const std::string name = at->path().lexically_relative(dir_).string();
      std::error_code unknown;
      const bool is_folder = at->is_directory(unknown);
      if (is_hidden(at->path().filename().string())) {
        at.disable_recursion_pending();
      } else if (is_folder && has_run(at->path())) {
        left_out_.runs.push_back(printable(name));
        at.disable_recursion_pending();
      } else if (is_image_file(name) && !is_folder) {
        files_.push_back({0, name});
      } else if (!is_folder) {
        left_out_.add(name);
      }
    }
    if (failure) throw DataError(dir_, "cannot be listed: " + failure.message());
    if (files_.empty())
      throw DataError(
          dir_, "has no images, also not in folders below it; supported endings are " + image_file_endings());
    std::ranges::sort(files_, {}, &Entry::name);
    std::ranges::sort(left_out_.runs);
  }

  /// Rejects a folder that has images without classes, or is itself the folder of a class.
  void reject_flat_folder() const {
    const auto is_there = [](const std::string& class_folder) { return !class_folder.empty(); };
    if (std::any_of(folders_.begin(), folders_.end(), is_there) || !has_images(dir_)) return;
    const fs::path folder = fs::absolute(dir_).lexically_normal();
    const fs::path own = folder.filename().empty() ? folder.parent_path() : folder;
    const fs::path parent = own.parent_path();
    bool has_siblings = false;
    for (const std::string& name : sorted_names(parent, is_class_folder))
      has_siblings = has_siblings || (name != own.filename() && has_images(parent / name));
    throw DataError(dir_,
                    "has images, but no class folders; for images without classes, write classes: false" +
                        (has_siblings ? "; if it is the folder of one class, write dir: " + parent.string()
                                      : "; with classes, ImageFolder reads DIR/CLASS/NAME.jpg"));
  }
  static bool has_images(const fs::path& folder) {
    return !sorted_names(folder, [](const fs::directory_entry& entry) {
              return is_image_file(entry.path().string());
            }).empty();
  }

  /// Appends the images of one class, and records other content of its folder.
  void list_class(const std::string& name, int32_t label) {
    folders_[static_cast<size_t>(label)] = name;
    const fs::path folder = fs::path(dir_) / name;
    const size_t before = files_.size();
    for (std::string& file : sorted_names(folder, [](const auto& /*entry*/) { return true; })) {
      std::error_code unknown;
      if (is_hidden(file)) continue;
      if (is_image_file(file)) {
        files_.push_back({label, std::move(file)});
      } else if (fs::is_directory(folder / file, unknown)) {
        left_out_.folders.push_back(printable(name + "/" + file));
      } else {
        left_out_.add(file);
      }
    }
    if (files_.size() == before) left_out_.empty_classes.push_back(printable(name));
  }
  void look_at_first() {
    int32_t of_class = -1;
    for (const Entry& file : files_) {
      if (file.label != of_class) first_.start(p_.classes ? 1 : kFirstImages);
      of_class = file.label;
      first_.look_at(path_of(file), name_of_file(file));
    }
  }
  std::string name_of_file(const Entry& file) const {
    return p_.classes ? classes_[static_cast<size_t>(file.label)] + "/" + file.name : file.name;
  }
  static bool is_other_file(const fs::directory_entry& entry) {
    std::error_code unknown;
    return !is_hidden(entry.path().filename().string()) && entry.is_regular_file(unknown);
  }
  std::string path_of(const Entry& file) const {
    return (fs::path(dir_) / folders_[static_cast<size_t>(file.label)] / file.name).string();
  }
  /// Folder names may be any bytes, class names are text.
  static std::vector<std::string> printable_names(std::vector<std::string> names) {
    for (std::string& name : names) name = valid_utf8(name);
    return names;
  }
  static bool is_class_folder(const fs::directory_entry& entry) {
    std::error_code unknown;
    // Without this folder (a dangling link), the labels of the following folders would shift.
    const bool is_class = entry.is_directory(unknown) || is_dangling_link(entry.path().string());
    return is_class && !is_hidden(entry.path().filename().string());
  }
  /// Sorted by letter, or by value if all are numbers. Run folders are added to `runs` instead, unless it is
  /// null.
  std::vector<std::string> folder_names(std::vector<std::string>* runs = nullptr) const {
    std::vector<std::string> names;
    for (std::string& name : sorted_names(dir_, is_class_folder)) {
      if (!has_run(fs::path(dir_) / name))
        names.push_back(std::move(name));
      else if (runs != nullptr)
        runs->push_back(printable(name));
    }
    const auto is_number = [](const std::string& name) { return csv_number(name).has_value(); };
    if (std::all_of(names.begin(), names.end(), is_number))
      std::stable_sort(names.begin(), names.end(), [](const std::string& a, const std::string& b) {
        return *csv_number(a) < *csv_number(b);
      });
    return names;
  }

  Params p_;
  std::string dir_;
  std::vector<std::string> classes_;
  std::vector<std::string> folders_;  // of the classes; "": has none
  std::vector<Entry> files_;
  LeftOut left_out_;
  FirstImages first_{p_, "ImageFolder", ""};
};

TPACK_REGISTER(Source, ImageFolder, "ImageFolder");

}  // namespace
}  // namespace tpack
