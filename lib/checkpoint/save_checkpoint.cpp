#include <algorithm>
#include <array>
#include <vector>

#include "checkpoint/checkpoint.h"
#include "checkpoint/hdf5.h"
#include "checkpoint/seal.h"
#include "core/digest.h"
#include "core/error.h"
#include "core/hdf5_mutex.h"
#include "core/text.h"

namespace tpack {
namespace {

using hdf5::checked;
using hdf5::Handle;

constexpr size_t kMaxNameBytes = 256;
/// Never opened. With the name of an existing file, libhdf5 would read all of it first; with that of a file
/// in memory that another thread makes, it would refuse. Threads: one at a time.
std::string next_memory_name() {
  static uint64_t files = 0;
  return "tpack-checkpoint-in-memory-" + std::to_string(++files);
}

/// Lets other threads use libhdf5 during its lifetime.
class Unlocked {
 public:
  Unlocked() { hdf5_mutex().unlock(); }
  ~Unlocked() { hdf5_mutex().lock(); }
  Unlocked(const Unlocked&) = delete;
  Unlocked& operator=(const Unlocked&) = delete;
};

/// `digest_of`, which takes as long as everything else.
std::string digest_while_unlocked(std::string_view bytes) {
  const Unlocked others;
  return digest_of(bytes);
}

/// Writes one content into an open HDF5 file.
class Writer {
 public:
  Writer(const std::string& path, hid_t file)
      : path_(path),
        file_(file),
        links_(H5Pcreate(H5P_LINK_CREATE), H5Pclose),
        creation_(H5Pcreate(H5P_DATASET_CREATE), H5Pclose) {
    H5Pset_create_intermediate_group(links_.get(), 1);
    H5Pset_char_encoding(links_.get(), H5T_CSET_UTF8);
    H5Pset_obj_track_times(creation_.get(), false);
  }

  void tensor(const std::string& name, const Tensor& value) const {
    const auto sizes = value.shape().sizes();
    const std::vector<hsize_t> dims(sizes.begin(), sizes.end());
    const Handle type = hdf5::file_type(value.dtype());
    const Handle space(dims.empty() ? H5Screate(H5S_SCALAR)
                                    : H5Screate_simple(static_cast<int>(dims.size()), dims.data(), nullptr),
                       H5Sclose);
    dataset(name, type, space, {reinterpret_cast<const char*>(value.raw()), value.bytes()});
  }
  void text(const std::string& name, const std::string& value) const {
    if (value.find('\0') != std::string::npos)
      throw CheckpointError(path_, "string '" + name + "' contains a NUL character");
    dataset(name, hdf5::text_type(value.size()), Handle(H5Screate(H5S_SCALAR), H5Sclose),
            value.empty() ? std::string_view("\0", 1) : std::string_view(value));
  }
  void list(const std::string& name, const std::vector<std::string>& values) const {
    size_t longest = 1;
    for (const std::string& value : values) longest = std::max(longest, value.size());
    std::string bytes;
    for (const std::string& value : values) {
      if (value.find('\0') != std::string::npos)
        throw CheckpointError(path_, "a string of '" + name + "' contains a NUL character");
      bytes += value + std::string(longest - value.size(), '\0');
    }
    const hsize_t count = values.size();
    dataset(name, hdf5::text_type(longest), Handle(H5Screate_simple(1, &count, nullptr), H5Sclose), bytes);
  }
  void number_attribute(const char* name, int64_t value) const {
    const Handle space(H5Screate(H5S_SCALAR), H5Sclose);
    attribute(file_, name, Handle(H5Tcopy(H5T_STD_I64LE), H5Tclose), space, &value);
  }
  void text_attribute(hid_t owner, const char* name, const std::string& value) const {
    const Handle space(H5Screate(H5S_SCALAR), H5Sclose);
    attribute(owner, name, hdf5::text_type(value.size()), space, value.data());
  }

 private:
  void check_name(const std::string& name) const {
    for (const std::string& word : split(name, '/')) {
      if (!word.empty() && word != "." && word.size() <= kMaxNameBytes) continue;
      throw CheckpointError(path_, "'" + name + "' is not a valid name in a checkpoint");
    }
  }
  void dataset(const std::string& name, const Handle& type, const Handle& space,
               std::string_view bytes) const {
    check_name(name);
    const std::string what = "'" + name + "' cannot be stored";
    const Handle made(checked(H5Dcreate2(file_, name.c_str(), type.get(), space.get(), links_.get(),
                                         creation_.get(), H5P_DEFAULT),
                              path_, what.c_str()),
                      H5Dclose);
    checked(H5Dwrite(made.get(), type.get(), H5S_ALL, H5S_ALL, H5P_DEFAULT, bytes.data()), path_,
            what.c_str());
    text_attribute(made.get(), hdf5::kDigestName, digest_while_unlocked(bytes));
  }
  void attribute(hid_t owner, const char* name, const Handle& type, const Handle& space,
                 const void* value) const {
    const Handle made(
        checked(H5Acreate2(owner, name, type.get(), space.get(), H5P_DEFAULT, H5P_DEFAULT), path_, name),
        H5Aclose);
    checked(H5Awrite(made.get(), type.get(), value), path_, name);
  }

  const std::string& path_;
  hid_t file_;
  Handle links_;
  Handle creation_;
};

void write_content(const Writer& writer, hid_t file, CheckpointContent& content) {
  writer.text_attribute(file, "format", "tpack-checkpoint");
  writer.number_attribute("format_version", kCheckpointVersion);
  writer.text_attribute(file, "tpack_version", TPACK_VERSION);
  writer.number_attribute("step", content.step);
  writer.number_attribute("epoch", content.epoch);
  for (auto& [name, tensor] : content.tensors) {
    writer.tensor(name, tensor);
    tensor = Tensor();
  }
  for (const auto& [name, text] : content.texts) writer.text(name, text);
  for (const auto& [name, texts] : content.lists) writer.list(name, texts);
  writer.number_attribute("complete", 1);
}

/// Builds the HDF5 file in memory; returns its length, including room for the user block.
size_t build(const std::string& path, CheckpointContent& content, hdf5::MemoryFile& memory) {
  const std::lock_guard lock(hdf5_mutex());
  hdf5::prepare();
  const Handle access = memory.access();
  const Handle creation(H5Pcreate(H5P_FILE_CREATE), H5Pclose);
  H5Pset_userblock(creation.get(), kSealBytes);
  const Handle file(
      checked(H5Fcreate(next_memory_name().c_str(), H5F_ACC_TRUNC, creation.get(), access.get()), path,
              "cannot be created"),
      H5Fclose);
  write_content(Writer(path, file.get()), file.get(), content);
  checked(H5Fflush(file.get(), H5F_SCOPE_GLOBAL), path, "cannot be finished");
  // The image has no user block, but the file in memory does.
  return kSealBytes +
         static_cast<size_t>(checked(H5Fget_file_image(file.get(), nullptr, 0), path, "has no size"));
}

}  // namespace

void save_checkpoint(const std::string& path, CheckpointContent content, FileIo& io) {
  hdf5::MemoryFile memory;
  const size_t bytes = build(path, content, memory);
  const std::string_view hdf5 = memory.content(bytes).substr(kSealBytes);
  const std::string seal = make_seal(hdf5);
  write_whole_file(path, std::array<std::string_view, 2>{seal, hdf5}, io);
}

}  // namespace tpack
