#include <algorithm>
#include <unordered_set>
#include <utility>

#include "checkpoint/hdf5.h"
#include "core/error.h"
#include "core/hdf5_mutex.h"
#include "core/registry.h"
#include "core/text.h"
#include "dataflow/file_stamp.h"
#include "dataflow/source.h"
#include "sources/array_of_component.h"
#include "sources/hdf5/hdf5_samples.h"
#include "system/file_kind.h"
#include "system/input_file.h"

namespace tpack {
namespace {

using hdf5::Handle;

/// Adds the name of a dataset.
herr_t add_dataset(hid_t /*file*/, const char* name, const H5O_info_t* info, void* names) {
  if (info->type == H5O_TYPE_DATASET) static_cast<std::vector<std::string>*>(names)->emplace_back(name);
  return 0;
}

/// A file that is open for reading. Threads: any number at once.
class Hdf5File {
 public:
  explicit Hdf5File(const std::string& path) : path_(path), on_disk_(path) {
    const std::lock_guard lock(hdf5_mutex());
    hdf5::prepare();
    const Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
    H5Pset_file_locking(access.get(), /*use_file_locking=*/false, /*ignore_when_disabled=*/true);
    file_.emplace(
        required(H5Fopen(path.c_str(), H5F_ACC_RDONLY, access.get()), path, "cannot be read as HDF5"),
        H5Fclose);
  }
  ~Hdf5File() {
    const std::lock_guard lock(hdf5_mutex());
    sets_.clear();
    file_.reset();
  }
  Hdf5File(const Hdf5File&) = delete;
  Hdf5File& operator=(const Hdf5File&) = delete;

  /// Names of all datasets, with their groups: "train/x".
  std::vector<std::string> names() const {
    const std::lock_guard lock(hdf5_mutex());
    std::vector<std::string> names;
    required(H5Ovisit2(file_->get(), H5_INDEX_NAME, H5_ITER_INC, add_dataset, &names, H5O_INFO_BASIC), path_,
             "cannot be listed");
    return names;
  }
  bool is_text(const std::string& name) const {
    const std::lock_guard lock(hdf5_mutex());
    const Handle dataset(H5Dopen2(file_->get(), name.c_str(), H5P_DEFAULT), H5Dclose);
    const Handle type(H5Dget_type(dataset.get()), H5Tclose);
    return H5Tget_class(type.get()) == H5T_STRING;
  }
  /// `members`: none for a dataset.
  void open(const std::string& name, std::vector<std::string> members, bool may_be_elsewhere) {
    const std::lock_guard lock(hdf5_mutex());
    if (members.empty())
      sets_.emplace_back(std::make_unique<SampleSet>(file_->get(), name, path_, may_be_elsewhere));
    else
      sets_.emplace_back(
          std::make_unique<SampleGroup>(file_->get(), name, std::move(members), path_, may_be_elsewhere));
  }
  std::vector<double> first_doubles(size_t i) const {
    const std::lock_guard lock(hdf5_mutex());
    return sets_[i].first_doubles();
  }
  const Samples& set(size_t i) const { return sets_[i]; }
  std::string stamp() const { return on_disk_.stamp(); }
  size_t sets() const { return sets_.size(); }
  void get(size_t set, int64_t index, Datapoint& out) const {
    {
      const std::lock_guard lock(hdf5_mutex());
      sets_[set].get(index, set, out);
    }
    check_length();
  }

 private:
  /// libhdf5 gives zeros for what is behind the end of a file.
  void check_length() const {
    if (on_disk_.size_now() < on_disk_.size()) throw DataError("the file became shorter while it was read");
  }

  std::string path_;
  InputFile on_disk_;
  std::optional<Handle> file_;
  std::vector<Samples> sets_;
};

struct Hdf5Params {
  Ref<Path> file;
  std::vector<ArrayOfComponent> arrays;
  bool shuffle = true;
  bool other_files = false;
};

/// Samples are read on demand; the file may be larger than the memory. Reads wait for each other.
class Hdf5Source final : public RandomAccessSource, public SourceFiles {
 public:
  using Params = Hdf5Params;
  static Schema<Params> schema() {
    return Schema<Params>(
               "Reads datasets of an HDF5 file (.h5); the first axis counts samples. Floats become float32, "
               "integers int32; uint8 and bool stay. uint8 datasets [N, height, width], [N, height, width, "
               "1] and [N, height, width, 3] are images. Compressed datasets (gzip) are faster with shuffle: "
               "false, unless their chunks are small.")
        .example("HDF5: {file: train.h5, arrays: {image: train_set_x, label: train_set_y}}")
        .field("file", &Params::file, "the file")
        .required()
        .shorthand()
        .field(
            "arrays", &Params::arrays,
            "datasets by component; for datasets in groups, write the path, such as train/x; default: all "
            "datasets of numbers, under their own names. A group stands for its datasets, each of which is "
            "one sample, of any size; several groups must have the same names in them")
        .field("shuffle", &Params::shuffle, "use a new order in each pass")
        .field(
            "other_files", &Params::other_files,
            "also read virtual datasets and external storage, whose numbers are in other files that this one "
            "names");
  }
  explicit Hdf5Source(Params p) : p_(std::move(p)), path_(resolved_path(p_.file)) {}

  bool knows_spec() const override { return false; }
  Spec spec() const override {
    std::vector<ComponentSpec> components;
    for (size_t i = 0; i < components_.size(); ++i) {
      const TensorSpec& tensor = file_->set(i).spec();
      components.push_back({components_[i], tensor, is_image_spec(tensor)});
    }
    return Spec(std::move(components));
  }
  const char* path_field() const override { return "file"; }
  int64_t size() const override { return components_.empty() ? 0 : file_->set(0).samples(); }
  bool shuffled() const override { return p_.shuffle; }
  std::string fingerprint() const override { return file_stamp(path_); }
  std::optional<OpenFile> open_file() const override { return OpenFile{path_, file_->stamp()}; }
  std::string file_of(int64_t index) const override { return path_ + "[" + std::to_string(index) + "]"; }
  SourceFacts facts() const override {
    SourceFacts facts{.samples = size()};
    if (!texts_.empty()) facts.remarks.push_back("datasets of strings are not read: " + join_first(texts_));
    for (size_t i = 0; i < components_.size(); ++i) {
      const std::string remark = remark_of_rounded(file_->set(i).name(), file_->first_doubles(i));
      if (!remark.empty()) facts.remarks.push_back(remark);
    }
    return facts;
  }

  std::shared_ptr<RandomAccessSource> reopen_with(const std::string& path,
                                                  const std::vector<std::string>& components) const override {
    return std::make_shared<Hdf5Source>(
        Params{{path, {}}, arrays_of(components, p_.arrays), false, p_.other_files});
  }

  void get(int64_t index, const SampleKey& /*key*/, Datapoint& out) const override {
    for (size_t i = 0; i < components_.size(); ++i) {
      const Samples& set = file_->set(i);
      try {
        file_->get(i, index, out);
      } catch (const DataError& error) {
        throw DataError("dataset '" + set.name() + "': " + error.what());
      }
    }
  }

 protected:
  void prepare() override {
    require_path("HDF5", p_.file);
    components_.clear();
    texts_.clear();
    require_regular_file(path_);
    reject_other_kinds();
    file_ = std::make_unique<Hdf5File>(path_);
    const std::vector<std::string> names = file_->names();
    std::vector<ArrayOfComponent> wanted = p_.arrays;
    if (wanted.empty()) {
      for (const std::string& name : names) {
        if (file_->is_text(name))
          texts_.push_back(name);
        else
          wanted.push_back({name, name});
      }
    }
    if (wanted.empty()) throw DataError(path_, "has no datasets of numbers");
    const std::unordered_set<std::string> known(names.begin(), names.end());
    for (const ArrayOfComponent& one : wanted) {
      std::string name = one.array.starts_with('/') ? one.array.substr(1) : one.array;
      while (name.ends_with('/')) name.pop_back();
      std::vector<std::string> members;
      if (!known.contains(name)) members = members_of(name, names);
      if (!known.contains(name) && members.empty())
        throw ConfigError(one.position, "HDF5: unknown dataset '" + one.array + "'" +
                                            did_you_mean(one.array, names) + "; " + path_ + " has " +
                                            join_first(names));
      file_->open(name, std::move(members), p_.other_files);
    }
    check_sizes();
    check_members();
    for (const ArrayOfComponent& one : wanted) components_.push_back(one.component);
  }

 private:
  void reject_other_kinds() const {
    const std::string first = first_bytes(path_, 512);
    constexpr std::string_view kMagic = "\x89HDF\r\n\x1A\n";
    const FileKind kind = kind_of_content(first);
    if (kind.is_known() && kind.form != FileKind::Form::kCheckpoint && !first.starts_with(kMagic))
      throw DataError(path_, "is " + kind.rejected_as("an HDF5 file"));
  }
  /// The datasets of a group, without its name and without those of groups in it.
  static std::vector<std::string> members_of(const std::string& group,
                                             const std::vector<std::string>& names) {
    std::vector<std::string> members;
    for (const std::string& name : names) {
      if (!name.starts_with(group + "/")) continue;
      const std::string member = name.substr(group.size() + 1);
      if (member.find('/') == std::string::npos) members.push_back(member);
    }
    return members;
  }
  /// Samples of groups belong together by their names.
  void check_members() const {
    const Samples* first = nullptr;
    for (size_t i = 0; i < file_->sets(); ++i) {
      const Samples& set = file_->set(i);
      if (set.members() == nullptr) continue;
      if (first == nullptr) first = &set;
      const auto [own, other] = std::ranges::mismatch(*set.members(), *first->members());
      if (own == set.members()->end()) continue;
      throw DataError(path_, "group '" + set.name() + "' has '" + *own + "', where group '" + first->name() +
                                 "' has '" + *other +
                                 "'; groups of samples must have the same names in them");
    }
  }
  void check_sizes() const {
    std::vector<std::string> sizes;
    bool are_equal = true;
    for (size_t i = 0; i < file_->sets(); ++i) {
      sizes.push_back(file_->set(i).name() + " " + with_thousands(file_->set(i).samples()));
      are_equal = are_equal && file_->set(i).samples() == file_->set(0).samples();
    }
    if (are_equal) return;
    throw DataError(path_, "datasets have different numbers of samples (" + join_first(sizes) +
                               "); choose those that belong together with 'arrays'");
  }

  Params p_;
  std::string path_;
  std::unique_ptr<Hdf5File> file_;
  std::vector<std::string> components_;  // names, in the order of the sets of the file
  std::vector<std::string> texts_;       // datasets that are not read
};

TPACK_REGISTER(Source, Hdf5Source, "HDF5");

}  // namespace
}  // namespace tpack
