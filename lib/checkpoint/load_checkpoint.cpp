#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <vector>

#include "checkpoint/checkpoint.h"
#include "checkpoint/hdf5.h"
#include "checkpoint/seal.h"
#include "core/digest.h"
#include "core/error.h"
#include "core/hdf5_mutex.h"

namespace tpack {
namespace {

using hdf5::checked;
using hdf5::Handle;

// A digest only detects accidents: these limits and the rules below reject malicious files.
constexpr int kMaxDepth = 64;
constexpr size_t kMaxObjects = 100'000;
constexpr size_t kMaxNameBytes = 256;

constexpr std::array kTypes = {DType::kFloat32, DType::kFloat64, DType::kInt32,
                               DType::kInt64,   DType::kUInt8,   DType::kBool};

enum class Wanted : uint8_t { kAll, kTexts };
enum class Digests : uint8_t { kChecked, kIgnored };

class CheckpointReader {
 public:
  CheckpointReader(const std::string& path, hid_t file, Digests digests)
      : path_(path), file_(file), digests_(digests) {
    hsize_t bytes = 0;
    checked(H5Fget_filesize(file, &bytes), path_, "has no size");
    file_bytes_ = bytes;
  }

  int64_t step() const {
    check_root();
    return number_attribute("step");
  }
  CheckpointContent read(Wanted parts) {
    parts_ = parts;
    check_root();
    content_.step = number_attribute("step");
    content_.epoch = number_attribute("epoch");
    group(file_, "", 0);
    return std::move(content_);
  }

 private:
  [[noreturn]] void reject(const std::string& name, const std::string& why) const {
    throw CheckpointError(path_, "'" + name + "' " + why);
  }
  void check_root() const;
  int64_t number_attribute(const char* name) const;
  std::optional<std::string> text_attribute(hid_t owner, const char* name) const;
  void group(hid_t id, const std::string& path, int depth);
  static herr_t add_link(hid_t group, const char* name, const H5L_info_t* info, void* links);
  void object(hid_t group, const std::string& link, const std::string& name, int depth);
  void dataset(hid_t id, const std::string& name);
  void check_storage(hid_t id, const std::string& name, uint64_t bytes);
  void tensor(hid_t id, const std::string& name, const Handle& type);
  void text(hid_t id, const std::string& name, const Handle& type);
  Shape shape(hid_t id, const std::string& name) const;
  void read_bytes(hid_t id, const std::string& name, const Handle& type, std::string_view target) const;

  const std::string& path_;
  hid_t file_;
  Digests digests_;
  uint64_t file_bytes_ = 0;
  Wanted parts_ = Wanted::kAll;
  size_t objects_ = 0;
  uint64_t stored_ = 0;  // bytes of all datasets
  CheckpointContent content_;
};

void CheckpointReader::check_root() const {
  if (text_attribute(file_, "format") != "tpack-checkpoint") {
    throw CheckpointError(path_, "is not a tpack checkpoint: it has another format");
  }
  if (number_attribute("complete") != 1) throw CheckpointError(path_, "is incomplete");
}

int64_t CheckpointReader::number_attribute(const char* name) const {
  const Handle attribute(checked(H5Aopen(file_, name, H5P_DEFAULT), path_, name), H5Aclose);
  const Handle space(H5Aget_space(attribute.get()), H5Sclose);
  const Handle type(H5Aget_type(attribute.get()), H5Tclose);
  const bool is_number =
      H5Tget_class(type.get()) == H5T_INTEGER && H5Sget_simple_extent_npoints(space.get()) == 1;
  if (!is_number) reject(name, "is not a number");
  int64_t value = 0;
  checked(H5Aread(attribute.get(), H5T_NATIVE_INT64, &value), path_, name);
  return value;
}

/// A short text of fixed length; empty if there is none.
std::optional<std::string> CheckpointReader::text_attribute(hid_t owner, const char* name) const {
  if (H5Aexists(owner, name) <= 0) return std::nullopt;
  const Handle attribute(checked(H5Aopen(owner, name, H5P_DEFAULT), path_, name), H5Aclose);
  const Handle type(H5Aget_type(attribute.get()), H5Tclose);
  const Handle space(H5Aget_space(attribute.get()), H5Sclose);
  const bool fixed = H5Tget_class(type.get()) == H5T_STRING && H5Tis_variable_str(type.get()) == 0;
  const bool is_short =
      H5Tget_size(type.get()) <= kMaxNameBytes && H5Sget_simple_extent_npoints(space.get()) == 1;
  if (!fixed || !is_short) return std::nullopt;
  std::string value(H5Tget_size(type.get()), '\0');
  checked(H5Aread(attribute.get(), type.get(), value.data()), path_, name);
  return value.substr(0, value.find('\0'));
}

void CheckpointReader::group(hid_t id, const std::string& path, int depth) {
  if (depth > kMaxDepth) reject(path, "is nested deeper than " + std::to_string(kMaxDepth) + " groups");
  std::vector<std::string> links;
  checked(H5Literate(id, H5_INDEX_NAME, H5_ITER_INC, nullptr, add_link, &links), path_,
          "has an unreadable group");
  for (const std::string& link : links) {
    if (link.size() > kMaxNameBytes) reject(path, "has a name of more than 256 bytes");
    object(id, link, path.empty() ? link : path + "/" + link, depth);
  }
}

herr_t CheckpointReader::add_link(hid_t /*group*/, const char* name, const H5L_info_t* /*info*/,
                                  void* links) {
  auto& all = *static_cast<std::vector<std::string>*>(links);
  all.emplace_back(name);
  return all.size() > kMaxObjects ? 1 : 0;  // too many: their number is an error later
}

void CheckpointReader::object(hid_t group_id, const std::string& link, const std::string& name, int depth) {
  if (++objects_ > kMaxObjects)
    throw CheckpointError(path_, "has more than " + std::to_string(kMaxObjects) + " objects");
  H5L_info_t info{};
  checked(H5Lget_info(group_id, link.c_str(), &info, H5P_DEFAULT), path_, "has an unreadable link");
  if (info.type != H5L_TYPE_HARD) reject(name, "is a soft or external link; a checkpoint has none");
  const Handle object(checked(H5Oopen(group_id, link.c_str(), H5P_DEFAULT), path_, name.c_str()), H5Oclose);
  const H5I_type_t type = H5Iget_type(object.get());
  if (type == H5I_GROUP) {
    group(object.get(), name, depth + 1);
  } else if (type == H5I_DATASET) {
    dataset(object.get(), name);
  } else {
    reject(name, "is neither a group nor a dataset");
  }
}

void CheckpointReader::dataset(hid_t id, const std::string& name) {
  const Handle type(checked(H5Dget_type(id), path_, name.c_str()), H5Tclose);
  if (H5Tget_class(type.get()) == H5T_STRING) {
    text(id, name, type);
  } else if (parts_ == Wanted::kAll) {
    tensor(id, name, type);
  }
}

/// Only plain bytes inside this file, with the declared size.
void CheckpointReader::check_storage(hid_t id, const std::string& name, uint64_t bytes) {
  const Handle creation(checked(H5Dget_create_plist(id), path_, name.c_str()), H5Pclose);
  const H5D_layout_t layout = H5Pget_layout(creation.get());
  if (layout != H5D_CONTIGUOUS && layout != H5D_COMPACT)
    reject(name, "is chunked or virtual; datasets of a checkpoint are contiguous");
  if (H5Pget_external_count(creation.get()) != 0) reject(name, "has its data in another file");
  if (H5Pget_nfilters(creation.get()) != 0) reject(name, "has a filter");
  const uint64_t stored = H5Dget_storage_size(id);
  if (stored != bytes || stored > file_bytes_) {
    reject(name, "declares " + std::to_string(bytes) + " bytes and stores " + std::to_string(stored));
  }
  stored_ += stored;
  if (stored_ > file_bytes_) reject(name, "overlaps another dataset");
}

Shape CheckpointReader::shape(hid_t id, const std::string& name) const {
  const Handle space(checked(H5Dget_space(id), path_, name.c_str()), H5Sclose);
  const int rank = H5Sget_simple_extent_ndims(space.get());
  if (rank < 0 || static_cast<size_t>(rank) > Shape::kMaxRank ||
      H5Sget_simple_extent_type(space.get()) == H5S_NULL) {
    reject(name, "must have a shape of at most " + std::to_string(Shape::kMaxRank) + " axes");
  }
  std::array<hsize_t, Shape::kMaxRank> dims{};
  H5Sget_simple_extent_dims(space.get(), dims.data(), nullptr);
  try {
    Shape made(std::vector<int64_t>(dims.begin(), dims.begin() + rank));
    static_cast<void>(made.elements());  // throws if the product is too large
    return made;
  } catch (const ConfigError& error) {
    reject(name, std::string("has an invalid shape: ") + error.what());
  }
}

void CheckpointReader::read_bytes(hid_t id, const std::string& name, const Handle& type,
                                  std::string_view target) const {
  checked(H5Dread(id, type.get(), H5S_ALL, H5S_ALL, H5P_DEFAULT, const_cast<char*>(target.data())), path_,
          name.c_str());
  if (digests_ == Digests::kIgnored) return;
  const auto digest = text_attribute(id, hdf5::kDigestName);
  if (digest != digest_of(target)) reject(name, "is damaged: its content does not match its digest");
}

void CheckpointReader::tensor(hid_t id, const std::string& name, const Handle& type) {
  const auto known = std::find_if(kTypes.begin(), kTypes.end(), [&](DType candidate) {
    return H5Tequal(type.get(), hdf5::file_type(candidate).get()) > 0;
  });
  if (known == kTypes.end()) reject(name, "has an unsupported element type");
  const TensorSpec spec{*known, shape(id, name)};
  check_storage(id, name, static_cast<uint64_t>(spec.bytes()));
  const Tensor value(spec);
  const std::string_view bytes(reinterpret_cast<const char*>(value.raw()), value.bytes());
  read_bytes(id, name, type, bytes);
  const bool legal = spec.dtype != DType::kBool ||
                     std::all_of(bytes.begin(), bytes.end(), [](char c) { return c == 0 || c == 1; });
  if (!legal) reject(name, "has values that are neither true nor false");
  content_.tensors.emplace(name, value);
}

void CheckpointReader::text(hid_t id, const std::string& name, const Handle& type) {
  const Shape sizes = shape(id, name);
  if (H5Tis_variable_str(type.get()) != 0 || sizes.rank() > 1)
    reject(name, "is neither a string of fixed length nor a list of them");
  const size_t bytes = H5Tget_size(type.get());
  const auto count = static_cast<size_t>(sizes.elements());
  if (count > std::numeric_limits<size_t>::max() / bytes) reject(name, "is too large");
  check_storage(id, name, count * bytes);
  std::string value(count * bytes, '\0');
  read_bytes(id, name, type, value);
  std::vector<std::string> texts;
  for (size_t i = 0; i < count; ++i) {
    const std::string text = value.substr(i * bytes, bytes);
    texts.push_back(text.substr(0, text.find('\0')));
  }
  if (sizes.rank() == 0)
    content_.texts.emplace(name, std::move(texts[0]));
  else
    content_.lists.emplace(name, std::move(texts));
}

template <class Use>
auto with_reader(const std::string& path, Digests digests, const Use& use) {
  if (digests == Digests::kChecked) check_seal(path);
  const std::lock_guard lock(hdf5_mutex());
  hdf5::prepare();
  const Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
  H5Pset_fclose_degree(access.get(), H5F_CLOSE_STRONG);
  // Locks fail on some network file systems, and a checkpoint with its final name never changes.
  H5Pset_file_locking(access.get(), /*use_file_locking=*/false, /*ignore_when_disabled=*/true);
  const Handle file(
      checked(H5Fopen(path.c_str(), H5F_ACC_RDONLY, access.get()), path, "cannot be read as HDF5"), H5Fclose);
  return use(CheckpointReader(path, file.get(), digests));
}

}  // namespace

CheckpointContent load_checkpoint(const std::string& path) {
  return with_reader(path, Digests::kChecked,
                     [](CheckpointReader reader) { return reader.read(Wanted::kAll); });
}

CheckpointContent load_edited_checkpoint(const std::string& path) {
  return with_reader(path, Digests::kIgnored,
                     [](CheckpointReader reader) { return reader.read(Wanted::kAll); });
}

CheckpointContent load_checkpoint_texts(const std::string& path) {
  return with_reader(path, Digests::kChecked,
                     [](CheckpointReader reader) { return reader.read(Wanted::kTexts); });
}

int64_t checkpoint_step(const std::string& path) {
  return with_reader(path, Digests::kChecked, [](const CheckpointReader& reader) { return reader.step(); });
}

void verify_checkpoint(const std::string& path) { check_seal(path); }

}  // namespace tpack
