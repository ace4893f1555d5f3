#include "dataflow/format/idx.h"

#include <algorithm>
#include <array>
#include <memory>
#include <vector>

#include <zlib.h>

#include "core/error.h"

namespace tpack {
namespace {

struct CloseGz {
  void operator()(gzFile_s* file) const { gzclose(file); }
};

/// A gzip (or plain) file, read from its beginning.
class GzReader {
 public:
  explicit GzReader(const std::string& path) : path_(path), file_(gzopen(path.c_str(), "rbe")) {
    if (file_ == nullptr) throw DataError(path_, "cannot be opened");
    gzbuffer(file_.get(), 1U << 17U);
  }

  /// Reads up to `count` bytes; fewer at the end of the file only.
  size_t read(uint8_t* to, size_t count) {
    size_t got = 0;
    while (got < count) {
      const auto most = static_cast<unsigned>(std::min<size_t>(count - got, 1U << 30U));
      const int n = gzread(file_.get(), to + got, most);
      if (n < 0) fail(got);
      if (n == 0) break;
      got += static_cast<size_t>(n);
    }
    at_ += got;
    // A file cut inside the compressed stream reads as a short one; zlib tells by its error state.
    int code = Z_OK;
    gzerror(file_.get(), &code);
    if (got < count && code == Z_BUF_ERROR) {
      throw DataError(path_, "ends early: the compressed data stop after " + std::to_string(at_) + " bytes");
    }
    return got;
  }

 private:
  [[noreturn]] void fail(size_t got) {
    int code = Z_OK;
    const std::string text = gzerror(file_.get(), &code);
    throw DataError(path_, "is damaged behind byte " + std::to_string(at_ + got) + " of the unpacked data (" +
                               text + ")");
  }

  std::string path_;
  std::unique_ptr<gzFile_s, CloseGz> file_;
  size_t at_ = 0;
};

Shape read_header(GzReader& file, const std::string& path, size_t rank) {
  std::array<uint8_t, 4> magic{};
  if (file.read(magic.data(), magic.size()) != magic.size())
    throw DataError(path, "is empty or shorter than 4 bytes");
  constexpr uint8_t kUnsignedByte = 0x08;
  if (magic[0] != 0 || magic[1] != 0 || magic[2] != kUnsignedByte || magic[3] != rank) {
    throw DataError(path, "is no IDX file of bytes with " + std::to_string(rank) + " axes");
  }
  std::vector<uint8_t> bytes(4 * rank);
  if (file.read(bytes.data(), bytes.size()) != bytes.size()) throw DataError(path, "ends in its header");
  std::vector<int64_t> sizes;
  int64_t total = 1;
  for (size_t i = 0; i < rank; ++i) {
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
  GzReader file(path);
  const Shape shape = read_header(file, path, rank);
  // Grown as data come: a lying header must not make us ask for memory that no data stand behind.
  const auto promised = static_cast<size_t>(shape.elements());
  std::vector<uint8_t> data;
  constexpr size_t kStep = size_t{64} << 20U;
  while (data.size() < promised) {
    const size_t before = data.size();
    data.resize(std::min(promised, before + kStep));
    const size_t got = file.read(data.data() + before, data.size() - before);
    if (before + got < data.size()) {
      throw DataError(path, "ends early: " + std::to_string(before + got) + " of " +
                                std::to_string(promised) + " bytes of data (" + shape.str() + ")");
    }
  }
  uint8_t extra = 0;
  if (file.read(&extra, 1) != 0)
    throw DataError(path, "goes on behind the " + shape.str() + " of its header");
  const auto owner = std::make_shared<std::vector<uint8_t>>(std::move(data));
  return {TensorSpec{DType::kUInt8, shape},
          Storage::view(reinterpret_cast<std::byte*>(owner->data()), owner->size(), owner)};
}

}  // namespace tpack
