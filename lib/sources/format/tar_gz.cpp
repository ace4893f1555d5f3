#include "sources/format/tar_gz.h"

#include <algorithm>
#include <cstring>

#include "core/error.h"
#include "core/text.h"
#include "core/text_encoding.h"
#include "sources/format/tar.h"
#include "table/unpacked_file.h"

namespace tpack {
namespace {

/// The bytes of a file that is unpacked piece by piece, from a place that only moves forward.
class UnpackedWindow {
 public:
  explicit UnpackedWindow(const std::string& path) : file_(path) {}

  size_t read(uint64_t offset, void* to, size_t size) {
    constexpr size_t kPiece = size_t{1} << 20U;
    while (begin_ + bytes_.size() < offset + size) {
      const std::string_view piece = file_.next(kPiece);
      if (piece.empty()) break;
      bytes_ += piece;
    }
    if (offset >= begin_ + bytes_.size() || size == 0) return 0;
    const size_t there = std::min<size_t>(size, bytes_.size() - (offset - begin_));
    std::memcpy(to, bytes_.data() + (offset - begin_), there);
    return there;
  }
  /// Nothing before `offset` is read again.
  void forget(uint64_t offset) {
    const auto gone = static_cast<size_t>(std::min<uint64_t>(offset - begin_, bytes_.size()));
    bytes_.erase(0, gone);
    begin_ += gone;
  }

 private:
  UnpackedFile file_;
  std::string bytes_;
  uint64_t begin_ = 0;  // of `bytes_` in the file
};

}  // namespace

std::map<std::string, std::vector<uint8_t>> read_tar_gz(const std::string& path,
                                                        const std::function<bool(std::string_view)>& wanted,
                                                        size_t most_bytes) {
  UnpackedWindow window(path);
  std::map<std::string, std::vector<uint8_t>> files;
  TarWalk walk([&](uint64_t offset, void* to, size_t size) { return window.read(offset, to, size); }, path);
  while (const auto member = walk.next()) {
    const std::string name = valid_utf8(member->name.substr(member->name.rfind('/') + 1));
    if (wanted(name)) {
      if (member->size > most_bytes)
        throw DataError(path, "has '" + name + "' of " + std::to_string(member->size) + " bytes");
      most_bytes -= member->size;
      if (files.contains(name)) throw DataError(path, "has two files '" + name + "'");
      std::vector<uint8_t>& content = files[name];
      content.resize(member->size);
      window.read(member->data, content.data(), content.size());
    }
    window.forget(member->data + member->size);
  }
  return files;
}

}  // namespace tpack
