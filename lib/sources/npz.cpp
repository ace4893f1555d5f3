#include <algorithm>
#include <filesystem>
#include <unordered_map>

#include "core/error.h"
#include "core/registry.h"
#include "core/text.h"
#include "core/text_encoding.h"
#include "dataflow/file_stamp.h"
#include "dataflow/source.h"
#include "sources/array_of_component.h"
#include "sources/format/npy.h"
#include "sources/format/zip.h"
#include "system/file_kind.h"
#include "system/mapped_file.h"

namespace tpack {
namespace {

struct NpzParams {
  Ref<Path> file;
  std::vector<ArrayOfComponent> arrays;
  bool shuffle = true;
};

/// The file is mapped into memory, and samples are converted when they are read; only compressed arrays and
/// arrays in Fortran order are in memory.
class Npz final : public RandomAccessSource, public SourceFiles {
 public:
  using Params = NpzParams;
  static Schema<Params> schema() {
    return Schema<Params>(
               "Reads NumPy arrays from .npz or .npy files; the first axis counts samples. Floats become "
               "float32, integers int32; uint8 and bool stay. uint8 arrays [N, height, width], [N, height, "
               "width, 1] and [N, height, width, 3] are images.")
        .example("Npz: {file: mnist.npz, arrays: {image: x_train, label: y_train}}")
        .field("file", &Params::file, "file written by numpy.savez, savez_compressed or save")
        .required()
        .shorthand()
        .field("arrays", &Params::arrays,
               "arrays by component; default: all arrays, under their own names. The array of an .npy file "
               "is named after the file, without .npy")
        .field("shuffle", &Params::shuffle, "use a new order in each pass");
  }
  explicit Npz(Params p) : p_(std::move(p)), path_(resolved_path(p_.file)) {}

  bool knows_spec() const override { return false; }
  Spec spec() const override {
    std::vector<ComponentSpec> components;
    for (const Component& c : components_)
      components.push_back({c.name, c.spec, is_image_spec(c.array.spec())});
    return Spec(std::move(components));
  }
  const char* path_field() const override { return "file"; }
  int64_t size() const override { return components_.empty() ? 0 : components_[0].array.samples(); }
  bool shuffled() const override { return p_.shuffle; }
  std::string fingerprint() const override { return file_stamp(path_); }
  std::optional<OpenFile> open_file() const override { return OpenFile{path_, file_->stamp()}; }
  std::string file_of(int64_t index) const override { return path_ + "[" + std::to_string(index) + "]"; }

  SourceFacts facts() const override {
    SourceFacts facts{.samples = size()};
    for (const Component& c : components_) {
      const std::string remark = remark_of_rounded(c.array_name, c.array.first_doubles());
      if (!remark.empty()) facts.remarks.push_back(remark);
    }
    return facts;
  }

  std::shared_ptr<RandomAccessSource> reopen_with(const std::string& path,
                                                  const std::vector<std::string>& components) const override {
    Params p{{path, {}}, {}, false};
    if (path.ends_with(".npy") && components.size() == 1) {  // its array has the name of the file
      p.arrays = {{components[0], std::filesystem::path(path).stem().string()}};
      return std::make_shared<Npz>(std::move(p));
    }
    p.arrays = arrays_of(components, p_.arrays);
    return std::make_shared<Npz>(std::move(p));
  }

  void get(int64_t index, const SampleKey& /*key*/, Datapoint& out) const override {
    for (size_t i = 0; i < components_.size(); ++i) {
      try {
        components_[i].array.get(index, out.renew(i, components_[i].spec));
      } catch (const DataError& error) {
        throw DataError("array '" + components_[i].array_name + "': " + error.what());
      }
    }
  }

 protected:
  void prepare() override {
    components_.clear();
    require_path("Npz", p_.file);
    file_ = std::make_shared<const MappedFile>(path_);
    const auto& file = file_;
    const auto bytes = file->bytes();
    const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    if (text.starts_with("\x93NUMPY")) {
      add_arrays({std::filesystem::path(path_).stem().string()}, [&](size_t /*i*/) {
        return NpyArray({bytes, file}, path_);
      });
    } else {
      reject_other_kinds(text);
      const std::vector<ZipEntry> entries = read_zip(bytes, path_);
      std::vector<std::string> names;
      for (const ZipEntry& entry : entries)
        names.push_back(entry.name.ends_with(".npy") ? entry.name.substr(0, entry.name.size() - 4)
                                                     : entry.name);
      add_arrays(names, [&](size_t i) {
        return NpyArray(unpack_zip_entry(entries[i], file, path_), path_ + ": array '" + names[i] + "'");
      });
    }
    check_sizes();
  }

 private:
  struct Component {
    std::string name;
    std::string array_name;
    NpyArray array;
    TensorSpec spec;
  };

  /// Rejects a file that is not an archive of arrays, by its name.
  void reject_other_kinds(std::string_view bytes) const {
    using Form = FileKind::Form;
    const FileKind kind = kind_of_content(bytes);
    if (!kind.is_known() || kind.form == Form::kZip) return;
    constexpr std::string_view kOther = "numpy.savez and numpy.save write such files";
    constexpr std::string_view kTable = "source CSV reads tables of text";
    throw DataError(
        path_, "is " + kind.rejected_as("an .npz or .npy file", kind.form == Form::kText ? kTable : kOther));
  }

  /// Opens the requested arrays.
  template <class Open>
  void add_arrays(const std::vector<std::string>& names, Open open) {
    if (names.empty()) throw DataError(path_, "has no arrays");
    std::unordered_map<std::string, size_t> numbers;
    for (const std::string& name : names)
      if (!numbers.emplace(name, numbers.size()).second)
        throw DataError(path_, "has two arrays named '" + printable(name) + "'");
    std::vector<ArrayOfComponent> wanted = p_.arrays;
    if (wanted.empty()) {
      for (const std::string& name : names) wanted.push_back({name, name});
    }
    for (const ArrayOfComponent& one : wanted) {
      const auto found = numbers.find(one.array);
      if (found == numbers.end()) {
        throw ConfigError(one.position, "Npz: unknown array '" + one.array + "'" +
                                            did_you_mean(one.array, names) + "; " + path_ + " has " +
                                            join_first(names));
      }
      NpyArray array = open(found->second);
      TensorSpec spec = array.spec();
      if (is_image_spec(spec) && spec.shape.rank() == 2) spec.shape = {spec.shape[0], spec.shape[1], 1};
      components_.push_back({one.component, one.array, std::move(array), spec});
    }
  }
  void check_sizes() const {
    std::vector<std::string> sizes;
    bool are_equal = true;
    for (const Component& c : components_) {
      sizes.push_back(c.array_name + " " + with_thousands(c.array.samples()));
      are_equal = are_equal && c.array.samples() == size();
    }
    if (are_equal) return;
    throw DataError(path_, "arrays have different numbers of samples (" + join_first(sizes) +
                               "); choose those that belong together with 'arrays'");
  }

  Params p_;
  std::string path_;
  std::shared_ptr<const MappedFile> file_;
  std::vector<Component> components_;
};

TPACK_REGISTER(Source, Npz, "Npz");

}  // namespace
}  // namespace tpack
