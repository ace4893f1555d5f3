#include "sources/format/idx.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <libdeflate.h>

#include "core/error.h"
#include "core/text.h"
#include "system/file_io.h"
#include "system/machine.h"

namespace tpack {
namespace {

struct FreeDecompressor {
  void operator()(libdeflate_decompressor* d) const { libdeflate_free_decompressor(d); }
};

uint32_t little_endian(const char* at) {
  const auto byte = [at](int i) { return uint32_t{static_cast<uint8_t>(at[i])}; };
  return byte(0) | byte(1) << 8U | byte(2) << 16U | byte(3) << 24U;
}

/// Uninitialized memory: a data set fills tens of megabytes, which initialization would touch first.
class Buffer {
 public:
  /// Keeps the content. Errors: ResourceError.
  void resize(size_t bytes) {
    void* const grown = std::realloc(data_.get(), std::max<size_t>(bytes, 1));
    if (grown == nullptr) throw ResourceError("no memory for " + human_bytes(bytes));
    static_cast<void>(data_.release());
    data_.reset(static_cast<uint8_t*>(grown));
    size_ = bytes;
    prefer_large_pages(grown, bytes);
  }
  uint8_t* data() const { return data_.get(); }
  size_t size() const { return size_; }

 private:
  struct Free {
    void operator()(uint8_t* p) const { std::free(p); }
  };
  std::unique_ptr<uint8_t, Free> data_;
  size_t size_ = 0;
};

/// Unpacks a gzip file of one or several members (RFC 1952). Its last four bytes declare the size of the last
/// member's content. A deflate stream holds at most 1,032 times its own size, so a false declaration costs no
/// memory.
Buffer unpack(const std::string& path, const std::string& packed) {
  const std::unique_ptr<libdeflate_decompressor, FreeDecompressor> tool(libdeflate_alloc_decompressor());
  constexpr size_t kMaxPerByte = 1032;
  Buffer out;
  for (size_t at = 0; at < packed.size();) {
    const size_t most = (packed.size() - at) * kMaxPerByte;
    size_t room = std::min<size_t>(most, little_endian(&packed[packed.size() - 4]));
    size_t read = 0;
    size_t written = 0;
    libdeflate_result result = LIBDEFLATE_INSUFFICIENT_SPACE;
    const size_t before = out.size();
    while (true) {
      out.resize(before + room);
      result = libdeflate_gzip_decompress_ex(tool.get(), &packed[at], packed.size() - at, out.data() + before,
                                             room, &read, &written);
      if (result != LIBDEFLATE_INSUFFICIENT_SPACE || room == most) break;
      room = std::min(most, std::max<size_t>(2 * room, 4096));
    }
    if (result != LIBDEFLATE_SUCCESS)
      throw DataError(path, "is truncated or damaged: it cannot be decompressed");
    out.resize(before + written);
    at += read;
  }
  return out;
}

bool is_gzip(const std::string& bytes) { return bytes.size() >= 18 && bytes.starts_with("\x1F\x8B"); }

/// The sizes in the header; the data follow at byte 4 * (rank + 1).
Shape read_header(std::span<const uint8_t> bytes, const std::string& path, size_t rank) {
  if (bytes.size() < 4) throw DataError(path, "is empty or shorter than 4 bytes");
  constexpr uint8_t kUnsignedByte = 0x08;
  if (bytes[0] != 0 || bytes[1] != 0 || bytes[2] != kUnsignedByte || bytes[3] != rank) {
    throw DataError(path, "is not an IDX file of bytes with " + std::to_string(rank) + " axes");
  }
  if (bytes.size() < 4 * (rank + 1)) throw DataError(path, "ends in its header");
  std::vector<int64_t> sizes;
  int64_t total = 1;
  for (size_t i = 1; i <= rank; ++i) {
    sizes.push_back(int64_t{bytes[4 * i]} << 24U | int64_t{bytes[4 * i + 1]} << 16U |
                    int64_t{bytes[4 * i + 2]} << 8U | int64_t{bytes[4 * i + 3]});
    constexpr int64_t kMax = int64_t{1} << 32U;
    if (sizes.back() != 0 && total > kMax / sizes.back()) throw DataError(path, "declares more than 4 GB");
    total *= sizes.back();
  }
  return Shape(sizes);
}

}  // namespace

Tensor read_idx(const std::string& path, size_t rank) {
  auto content = read_whole_file(path);
  if (!content) throw DataError(path, std::string("cannot be read: ") + std::strerror(errno));
  std::shared_ptr<void> owner;
  std::span<uint8_t> bytes;
  if (is_gzip(*content)) {
    const auto unpacked = std::make_shared<Buffer>(unpack(path, *content));
    bytes = {unpacked->data(), unpacked->size()};
    owner = unpacked;
  } else {
    const auto plain = std::make_shared<std::string>(std::move(*content));
    bytes = {reinterpret_cast<uint8_t*>(plain->data()), plain->size()};
    owner = plain;
  }
  const Shape shape = read_header(bytes, path, rank);
  const auto promised = static_cast<size_t>(shape.elements());
  const std::span<uint8_t> data = bytes.subspan(4 * (rank + 1));
  if (data.size() < promised) {
    throw DataError(path, "ends early: " + std::to_string(data.size()) + " of " + std::to_string(promised) +
                              " bytes of data (" + shape.str() + ")");
  }
  if (data.size() > promised)
    throw DataError(path, "has more data than the " + shape.str() + " of its header");
  return {TensorSpec{DType::kUInt8, shape},
          Storage::view(reinterpret_cast<std::byte*>(data.data()), data.size(), owner)};
}

}  // namespace tpack
