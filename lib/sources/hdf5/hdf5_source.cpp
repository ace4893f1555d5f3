#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
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
#include "system/file_kind.h"
#include "system/input_file.h"

namespace tpack {
namespace {

using hdf5::Handle;

constexpr int64_t kMostBytesOfSample = int64_t{1} << 30;

/// Passes a result on. Errors: DataError "WHERE: WHAT: cause" if it is negative.
template <class T>
T required(T result, const std::string& where, const std::string& what) {
  if (result >= 0) return result;
  const std::string cause = hdf5::cause_of_failure();
  throw DataError(where, what + (cause.empty() ? "" : ": " + cause));
}

/// Reads one sample in the type `From` and converts it. Errors: DataError for numbers that do not fit.
template <class From, class To>
void read_converted(hid_t dataset, hid_t rows, hid_t memory_type, const std::string& where,
                    const Tensor& out) {
  const Handle space(H5Screate_simple(1, std::array{static_cast<hsize_t>(out.elements())}.data(), nullptr),
                     H5Sclose);
  const auto read = [&](void* to) {
    required(H5Dread(dataset, memory_type, space.get(), rows, H5P_DEFAULT, to), where, "cannot be read");
  };
  if constexpr (std::is_same_v<From, To>) {
    read(out.raw());
  } else {
    std::vector<From> values(static_cast<size_t>(out.elements()));
    read(values.data());
    std::transform(values.begin(), values.end(), out.data<To>(), [](From value) {
      bool fits = true;
      if constexpr (std::is_integral_v<From>)
        fits = std::in_range<To>(value);
      else
        fits = !std::isfinite(value) || std::abs(value) <= std::numeric_limits<To>::max();
      if (fits) return static_cast<To>(value);
      const std::string number = std::is_integral_v<From> ? std::to_string(value) : shortest(double(value));
      throw DataError("the number " + number + " does not fit into " +
                      (std::is_integral_v<To> ? "int32" : "float32"));
    });
  }
}

/// What a dataset holds.
enum class Holds : uint8_t {
  kSamples,   // its first axis counts samples
  kOneSample  // all of it is one
};

/// A dataset of numbers. Callers hold hdf5_mutex().
class SampleSet {
 public:
  /// Errors: DataError if its elements are not numbers, or if it has no samples.
  SampleSet(hid_t file, std::string name, const std::string& path, bool may_be_elsewhere,
            Holds holds = Holds::kSamples)
      : where_(path + ": dataset '" + name + "'"),
        name_(std::move(name)),
        holds_(holds),
        dataset_(opened(file)) {
    if (!may_be_elsewhere) reject_elsewhere();
    const Handle space(H5Dget_space(dataset_.get()), H5Sclose);
    const int rank = required(H5Sget_simple_extent_ndims(space.get()), where_, "has no shape");
    if (rank == 0 && holds_ == Holds::kSamples)
      throw DataError(where_, "is a single number; its first axis must count samples");
    if (rank > static_cast<int>(Shape::kMaxRank))
      throw DataError(where_, "has " + std::to_string(rank) + " axes; at most 8 are supported");
    sizes_.resize(static_cast<size_t>(rank));
    required(H5Sget_simple_extent_dims(space.get(), sizes_.data(), nullptr), where_, "has no shape");
    std::vector<int64_t> of_sample;
    int64_t elements = 1;
    for (size_t axis = holds_ == Holds::kSamples ? 1 : 0; axis < sizes_.size(); ++axis) {
      if (sizes_[axis] > kMostBytesOfSample || elements * int64_t(sizes_[axis]) > kMostBytesOfSample / 8)
        throw DataError(where_, "has samples of more than 128 million numbers");
      elements *= static_cast<int64_t>(sizes_[axis]);
      of_sample.push_back(static_cast<int64_t>(sizes_[axis]));
    }
    if (samples() == 0 || elements == 0) throw DataError(where_, "has no elements");
    spec_ = {set_type(), Shape(of_sample)};
    if (is_image_spec(spec_) && spec_.shape.rank() == 2) spec_.shape = {spec_.shape[0], spec_.shape[1], 1};
  }

  const std::string& name() const { return name_; }
  const TensorSpec& spec() const { return spec_; }
  int64_t samples() const { return holds_ == Holds::kSamples ? static_cast<int64_t>(sizes_[0]) : 1; }

  void get(int64_t index, const Tensor& out) const {
    const Handle rows = selected(index, 1);
    read_(dataset_.get(), rows.get(), memory_type_->get(), where_, out);
  }

  /// The numbers of the first samples in the file, if they are doubles: about 4,096.
  std::vector<double> first_doubles() const {
    if (read_ != &read_converted<double, float>) return {};
    const auto elements = static_cast<hsize_t>(spec_.shape.elements());
    const hsize_t first = std::clamp<hsize_t>(4096 / elements, 1, static_cast<hsize_t>(samples()));
    const Handle rows = selected(0, first);
    const hsize_t count = first * elements;
    const Handle space(H5Screate_simple(1, &count, nullptr), H5Sclose);
    std::vector<double> numbers(count);
    required(H5Dread(dataset_.get(), H5T_NATIVE_DOUBLE, space.get(), rows.get(), H5P_DEFAULT, numbers.data()),
             where_, "cannot be read");
    return numbers;
  }

 private:
  /// A file of another user must not bring what this user alone may read.
  void reject_elsewhere() const {
    const Handle creation(H5Dget_create_plist(dataset_.get()), H5Pclose);
    if (H5Pget_layout(creation.get()) == H5D_VIRTUAL || H5Pget_external_count(creation.get()) > 0)
      throw DataError(where_, "has its numbers in other files; set other_files: true if you trust this file");
  }

  using Read = void (*)(hid_t dataset, hid_t rows, hid_t memory_type, const std::string& where,
                        const Tensor& out);

  /// The file's space with these samples.
  Handle selected(int64_t first, hsize_t samples) const {
    Handle rows(H5Dget_space(dataset_.get()), H5Sclose);
    if (holds_ == Holds::kOneSample) return rows;
    std::vector<hsize_t> begin(sizes_.size(), 0);
    std::vector<hsize_t> count = sizes_;
    begin[0] = static_cast<hsize_t>(first);
    count[0] = samples;
    required(H5Sselect_hyperslab(rows.get(), H5S_SELECT_SET, begin.data(), nullptr, count.data(), nullptr),
             where_, "cannot be read");
    return rows;
  }

  Handle opened(hid_t file) const {
    // Rows in a new order come from many chunks: the most recent compressed chunks stay unpacked.
    constexpr size_t kCacheBytes = size_t{64} << 20U;
    constexpr size_t kSlots = 12421;
    const Handle access(H5Pcreate(H5P_DATASET_ACCESS), H5Pclose);
    H5Pset_chunk_cache(access.get(), kSlots, kCacheBytes, H5D_CHUNK_CACHE_W0_DEFAULT);
    return {required(H5Dopen2(file, name_.c_str(), access.get()), where_, "cannot be opened"), H5Dclose};
  }

  DType set_type() {
    const Handle type(H5Dget_type(dataset_.get()), H5Tclose);
    const H5T_class_t kind = H5Tget_class(type.get());
    const size_t bytes = H5Tget_size(type.get());
    const auto use = [&](hid_t memory_type, Read read, DType dtype) {
      memory_type_.emplace(H5Tcopy(memory_type), H5Tclose);
      read_ = read;
      return dtype;
    };
    if (kind == H5T_FLOAT && bytes <= 4)
      return use(H5T_NATIVE_FLOAT, read_converted<float, float>, DType::kFloat32);
    if (kind == H5T_FLOAT) return use(H5T_NATIVE_DOUBLE, read_converted<double, float>, DType::kFloat32);
    if (kind == H5T_ENUM && bytes == 1)  // of h5py: FALSE and TRUE
      return use(type.get(), read_converted<bool, bool>, DType::kBool);
    if (kind != H5T_INTEGER)
      throw DataError(where_, std::string("has ") +
                                  (kind == H5T_STRING ? "texts" : "elements that are not numbers") +
                                  "; supported are bool, integers and floats");
    const bool is_signed = H5Tget_sign(type.get()) != H5T_SGN_NONE;
    if (bytes == 1 && !is_signed)
      return use(H5T_NATIVE_UINT8, read_converted<uint8_t, uint8_t>, DType::kUInt8);
    if (bytes < 4 || (bytes == 4 && is_signed))
      return use(H5T_NATIVE_INT32, read_converted<int32_t, int32_t>, DType::kInt32);
    if (is_signed) return use(H5T_NATIVE_INT64, read_converted<int64_t, int32_t>, DType::kInt32);
    return use(H5T_NATIVE_UINT64, read_converted<uint64_t, int32_t>, DType::kInt32);
  }

  std::string where_;
  std::string name_;
  Holds holds_;
  Handle dataset_;
  std::vector<hsize_t> sizes_;
  TensorSpec spec_;
  std::optional<Handle> memory_type_;
  Read read_ = nullptr;
};

/// A group with a dataset for each sample, in the order of their names; sizes may differ. Callers hold
/// hdf5_mutex().
class SampleGroup {
 public:
  /// `members`: the names of its datasets, without the group. Errors: as SampleSet, for some evenly spaced
  /// ones.
  SampleGroup(hid_t file, std::string name, std::vector<std::string> members, std::string path,
              bool may_be_elsewhere)
      : file_(file),
        name_(std::move(name)),
        members_(std::move(members)),
        path_(std::move(path)),
        may_be_elsewhere_(may_be_elsewhere) {
    constexpr size_t kMostProbes = 16;
    const size_t probes = std::min(members_.size(), kMostProbes);
    for (size_t i = 0; i < probes; ++i) {
      const SampleSet set = opened(probes == 1 ? 0 : i * (members_.size() - 1) / (probes - 1));
      if (i == 0) spec_ = set.spec();
      reject_other(set);
      for (int axis = 0; axis < static_cast<int>(spec_.shape.rank()); ++axis)
        if (spec_.shape[axis] != set.spec().shape[axis])
          spec_.shape = spec_.shape.with(axis, Shape::kUnknown);
    }
  }

  const std::string& name() const { return name_; }
  const TensorSpec& spec() const { return spec_; }
  const std::vector<std::string>& members() const { return members_; }
  void get(int64_t index, size_t component, Datapoint& out) const {
    const SampleSet set = opened(static_cast<size_t>(index));
    reject_other(set);
    set.get(0, out.renew(component, set.spec()));
  }

 private:
  SampleSet opened(size_t member) const {
    return {file_, name_ + "/" + members_[member], path_, may_be_elsewhere_, Holds::kOneSample};
  }
  void reject_other(const SampleSet& set) const {
    if (set.spec().dtype == spec_.dtype && set.spec().shape.rank() == spec_.shape.rank()) return;
    throw DataError("dataset '" + set.name() + "' is " + set.spec().str() + "; others of its group are " +
                    spec_.str());
  }

  hid_t file_;
  std::string name_;
  std::vector<std::string> members_;
  std::string path_;
  bool may_be_elsewhere_;
  TensorSpec spec_;
};

/// The samples of a component: a dataset of all, or a group with a dataset for each.
class Samples {
 public:
  explicit Samples(std::unique_ptr<SampleSet> set) : set_(std::move(set)) {}
  explicit Samples(std::unique_ptr<SampleGroup> group) : group_(std::move(group)) {}

  const std::string& name() const { return set_ != nullptr ? set_->name() : group_->name(); }
  const TensorSpec& spec() const { return set_ != nullptr ? set_->spec() : group_->spec(); }
  int64_t samples() const { return set_ != nullptr ? set_->samples() : std::ssize(group_->members()); }
  /// The names of the samples; null if they have numbers.
  const std::vector<std::string>* members() const { return group_ == nullptr ? nullptr : &group_->members(); }
  std::vector<double> first_doubles() const {
    return set_ != nullptr ? set_->first_doubles() : std::vector<double>{};
  }
  void get(int64_t index, size_t component, Datapoint& out) const {
    if (set_ != nullptr) return set_->get(index, out.renew(component, set_->spec()));
    group_->get(index, component, out);
  }

 private:
  std::unique_ptr<SampleSet> set_;
  std::unique_ptr<SampleGroup> group_;
};

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
