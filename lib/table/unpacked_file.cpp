#include "table/unpacked_file.h"

#include <algorithm>
#include <limits>
#include <zlib.h>
#include <zstd.h>

#include "core/error.h"

namespace tpack {
namespace {

using namespace std::string_view_literals;

constexpr std::string_view kGzipMark = "\x1F\x8B"sv;
constexpr std::string_view kZstandardMark = "\x28\xB5\x2F\xFD"sv;

/// One or several members (RFC 1952). Some tools fill the last block with zeros.
class GzipUnpacker final : public Unpacker {
 public:
  GzipUnpacker(std::string_view packed, std::string path) : packed_(packed), path_(std::move(path)) {
    constexpr int kGzip = 16;  // with a gzip header and checksum, not those of zlib
    if (inflateInit2(&state_, MAX_WBITS + kGzip) != Z_OK) throw ResourceError("no memory to unpack " + path_);
  }
  ~GzipUnpacker() override { inflateEnd(&state_); }
  GzipUnpacker(const GzipUnpacker&) = delete;
  GzipUnpacker& operator=(const GzipUnpacker&) = delete;

  size_t fill(std::span<char> out) override {
    size_t filled = 0;
    while (filled < out.size() && !is_done_) filled += unpack(out.subspan(filled));
    return filled;
  }

 private:
  size_t unpack(std::span<char> out) {
    constexpr size_t kMost = std::numeric_limits<uInt>::max();
    const size_t given = std::min(packed_.size(), kMost);
    const size_t room = std::min(out.size(), kMost);
    state_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed_.data()));  // zlib only reads it
    state_.avail_in = static_cast<uInt>(given);
    state_.next_out = reinterpret_cast<Bytef*>(out.data());
    state_.avail_out = static_cast<uInt>(room);
    const int result = inflate(&state_, Z_NO_FLUSH);
    packed_.remove_prefix(given - state_.avail_in);
    if (result == Z_STREAM_END) {
      begin_member();
    } else if (result != Z_OK && result != Z_BUF_ERROR) {
      throw DataError(path_, "is damaged: " + std::string(state_.msg == nullptr ? "gzip" : state_.msg));
    } else if (packed_.empty() && state_.avail_out > 0) {
      throw DataError(path_, "is cut off: its gzip data end early");
    }
    return room - state_.avail_out;
  }
  void begin_member() {
    packed_.remove_prefix(std::min(packed_.find_first_not_of('\0'), packed_.size()));
    is_done_ = packed_.empty();
    if (is_done_) return;
    if (!packed_.starts_with(kGzipMark))
      throw DataError(path_, "is damaged: extra bytes follow its gzip data");
    inflateReset(&state_);
  }

  z_stream state_ = {};
  std::string_view packed_;
  std::string path_;
  bool is_done_ = false;
};

/// One or several frames (RFC 8878). The library refuses those that need more than 128 MB.
class ZstandardUnpacker final : public Unpacker {
 public:
  ZstandardUnpacker(std::string_view packed, std::string path)
      : packed_{packed.data(), packed.size(), 0}, path_(std::move(path)), state_(ZSTD_createDStream()) {
    if (state_ == nullptr) throw ResourceError("no memory to unpack " + path_);
  }

  size_t fill(std::span<char> out) override {
    ZSTD_outBuffer filled{out.data(), out.size(), 0};
    while (filled.pos < filled.size && !(is_between_frames_ && packed_.pos == packed_.size)) {
      const size_t before = filled.pos;
      const size_t left = ZSTD_decompressStream(state_.get(), &filled, &packed_);
      if (ZSTD_isError(left) != 0)
        throw DataError(path_, "is damaged: " + std::string(ZSTD_getErrorName(left)));
      is_between_frames_ = left == 0;
      if (!is_between_frames_ && packed_.pos == packed_.size && filled.pos == before)
        throw DataError(path_, "is cut off: its Zstandard data end early");
    }
    return filled.pos;
  }

 private:
  struct Free {
    void operator()(ZSTD_DStream* state) const { ZSTD_freeDStream(state); }
  };
  ZSTD_inBuffer packed_;
  std::string path_;
  std::unique_ptr<ZSTD_DStream, Free> state_;
  bool is_between_frames_ = false;
};

}  // namespace

UnpackedFile::UnpackedFile(const std::string& path) : file_(path) {
  const auto bytes = file_.bytes();
  const std::string_view content(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (content.starts_with(kGzipMark))
    unpacker_ = std::make_unique<GzipUnpacker>(content, path);
  else if (content.starts_with(kZstandardMark))
    unpacker_ = std::make_unique<ZstandardUnpacker>(content, path);
  else
    rest_ = content;
}

std::string_view UnpackedFile::next(size_t at_most) {
  if (unpacker_ == nullptr) {
    const std::string_view piece = rest_.substr(0, at_most);
    rest_.remove_prefix(piece.size());
    return piece;
  }
  constexpr size_t kPiece = size_t{1} << 20U;
  piece_.resize(std::min(at_most, kPiece));
  piece_.resize(unpacker_->fill(piece_));
  return piece_;
}

}  // namespace tpack
