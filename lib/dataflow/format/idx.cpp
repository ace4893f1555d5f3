#include "dataflow/format/idx.h"

#include <algorithm>
#include <cstdio>
#include <memory>
#include <span>
#include <vector>

#include <libdeflate.h>

#include "core/error.h"

namespace tpack {
namespace {

using Bytes = std::vector<uint8_t>;

struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
struct FreeDecompressor {
  void operator()(libdeflate_decompressor* d) const { libdeflate_free_decompressor(d); }
};

Bytes read_whole_file(const std::string& path) {
  const std::unique_ptr<std::FILE, CloseFile> file(std::fopen(path.c_str(), "rbe"));
  if (file == nullptr) throw DataError(path, "cannot be opened");
  Bytes bytes;
  constexpr size_t kStep = size_t{1} << 20U;
  while (true) {
    const size_t before = bytes.size();
    bytes.resize(std::max(before + kStep, before * 2));
    const size_t got = std::fread(bytes.data() + before, 1, bytes.size() - before, file.get());
    bytes.resize(before + got);
    if (std::ferror(file.get()) != 0) throw DataError(path, "cannot be read");
    if (std::feof(file.get()) != 0) return bytes;
  }
}

uint32_t little_endian(const uint8_t* at) {
  return uint32_t{at[0]} | uint32_t{at[1]} << 8U | uint32_t{at[2]} << 16U | uint32_t{at[3]} << 24U;
}

/// Unpacks a gzip file of one member or several (RFC 1952). Its last four bytes promise the size of what the
/// last member holds; no stream of deflate can hold more than 1,032 times its own size, so a lying one costs
/// no memory.
Bytes unpack(const std::string& path, const Bytes& packed) {
  const std::unique_ptr<libdeflate_decompressor, FreeDecompressor> tool(libdeflate_alloc_decompressor());
  constexpr size_t kMostPerByte = 1032;
  Bytes out;
  for (size_t at = 0; at < packed.size();) {
    const size_t most = (packed.size() - at) * kMostPerByte;
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
    if (result != LIBDEFLATE_SUCCESS) throw DataError(path, "is truncated or damaged: it does not unpack");
    out.resize(before + written);
    at += read;
  }
  return out;
}

bool is_gzip(const Bytes& bytes) { return bytes.size() >= 18 && bytes[0] == 0x1F && bytes[1] == 0x8B; }

/// The sizes in the header; the data follow at byte 4 * (rank + 1).
Shape read_header(std::span<const uint8_t> bytes, const std::string& path, size_t rank) {
  if (bytes.size() < 4) throw DataError(path, "is empty or shorter than 4 bytes");
  constexpr uint8_t kUnsignedByte = 0x08;
  if (bytes[0] != 0 || bytes[1] != 0 || bytes[2] != kUnsignedByte || bytes[3] != rank) {
    throw DataError(path, "is no IDX file of bytes with " + std::to_string(rank) + " axes");
  }
  if (bytes.size() < 4 * (rank + 1)) throw DataError(path, "ends in its header");
  std::vector<int64_t> sizes;
  int64_t total = 1;
  for (size_t i = 1; i <= rank; ++i) {
    sizes.push_back(int64_t{bytes[4 * i]} << 24U | int64_t{bytes[4 * i + 1]} << 16U |
                    int64_t{bytes[4 * i + 2]} << 8U | int64_t{bytes[4 * i + 3]});
    constexpr int64_t kMost = int64_t{1} << 32U;
    if (sizes.back() != 0 && total > kMost / sizes.back()) throw DataError(path, "promises more than 4 GB");
    total *= sizes.back();
  }
  return Shape(sizes);
}

}  // namespace

Tensor read_idx(const std::string& path, size_t rank) {
  const auto owner = std::make_shared<Bytes>(read_whole_file(path));
  if (is_gzip(*owner)) *owner = unpack(path, *owner);
  const Shape shape = read_header(*owner, path, rank);
  const auto promised = static_cast<size_t>(shape.elements());
  const std::span<uint8_t> data = std::span(*owner).subspan(4 * (rank + 1));
  if (data.size() < promised) {
    throw DataError(path, "ends early: " + std::to_string(data.size()) + " of " + std::to_string(promised) +
                              " bytes of data (" + shape.str() + ")");
  }
  if (data.size() > promised) throw DataError(path, "goes on behind the " + shape.str() + " of its header");
  return {TensorSpec{DType::kUInt8, shape},
          Storage::view(reinterpret_cast<std::byte*>(data.data()), data.size(), owner)};
}

}  // namespace tpack
