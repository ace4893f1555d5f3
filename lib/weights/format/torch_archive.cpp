#include <map>
#include <memory>

#include "core/error.h"
#include "core/text_encoding.h"
#include "sources/format/pickle.h"
#include "sources/format/zip.h"
#include "weights/format/torch_values.h"
#include "weights/format/weight_formats.h"

// Source: torch/serialization.py of PyTorch 2.5.
namespace tpack {
namespace {

/// A pickle and the bytes that it was read from.
struct OwnedPickle {
  OwnedBytes bytes;
  Pickle pickle;
};

constexpr std::string_view kPickleName = "data.pkl";

class TorchArchive {
 public:
  TorchArchive(MappedFilePtr file, const std::string& path) : file_(std::move(file)), path_(path) {
    for (ZipEntry& entry : read_zip(file_->bytes(), path)) {
      std::string name = entry.name;
      if (name.ends_with(kPickleName) && prefix_.empty())
        prefix_ = name.substr(0, name.size() - kPickleName.size());
      if (entries_.contains(name)) throw DataError(path, "has two files named '" + printable(name) + "'");
      entries_.emplace(std::move(name), std::move(entry));
    }
    const ZipEntry* const order = find("byteorder");
    if (order == nullptr) return;
    const auto text = unpacked(*order).bytes;
    if (std::string_view(reinterpret_cast<const char*>(text.data()), text.size()) != "little")
      throw DataError(path, "is big-endian; load and save it on a little-endian machine");
  }

  bool has_pickle() const { return find(kPickleName) != nullptr; }

  WeightFile read() const {
    const auto content = std::make_shared<OwnedPickle>();
    content->bytes = unpacked(*find(kPickleName));
    content->pickle = read_pickle(content->bytes.bytes);
    WeightFile result{.path = path_, .format = "PyTorch (zip)", .is_in_order = true};
    add_torch_values(
        content->pickle.value, content, [this](const std::string& key) { return storage(key); }, result);
    return result;
  }

 private:
  const ZipEntry* find(std::string_view name) const {
    const auto entry = entries_.find(prefix_ + std::string(name));
    return entry == entries_.end() ? nullptr : &entry->second;
  }
  /// PyTorch stores all files as they are: nothing here needs more memory than the archive.
  void reject_compressed(const ZipEntry& entry) const {
    if (entry.is_deflated)
      throw DataError(path_, "'" + printable(entry.name) + "' is compressed, which torch.save does not do");
  }
  OwnedBytes unpacked(const ZipEntry& entry) const {
    reject_compressed(entry);
    return unpack_zip_entry(entry, file_, path_);
  }
  TorchStorage storage(const std::string& key) const {
    const ZipEntry* const entry = find("data/" + key);
    if (entry == nullptr) throw DataError(path_, "has no file 'data/" + printable(key) + "'");
    reject_compressed(*entry);
    const auto verify = [file = file_, path = path_, entry = *entry] {
      if (entry.crc != 0) unpack_zip_entry(entry, file, path);  // 0: written without digests
    };
    return {entry->packed, file_, verify};
  }

  MappedFilePtr file_;
  const std::string& path_;
  std::map<std::string, ZipEntry> entries_;
  std::string prefix_;
};

}  // namespace

std::optional<WeightFile> read_torch_archive(const MappedFilePtr& file, const std::string& path) {
  const TorchArchive archive(file, path);
  return archive.has_pickle() ? std::optional(archive.read()) : std::nullopt;
}

}  // namespace tpack
