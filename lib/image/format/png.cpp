#include <bit>
#include <csetjmp>
#include <cstring>
#include <string>
#include <vector>

#include <opencv2/core/mat.hpp>
#include <png.h>

#include "core/error.h"
#include "image/format/image_formats.h"
#include "image/format/stored_pixels.h"
#include "image/pixel_memory.h"

namespace tpack {
namespace {

constexpr size_t kSignature = 8;

/// A libpng reader over bytes in memory, with its errors as exceptions. libpng returns by longjmp on an
/// error, so nothing with a destructor may be created inside `run`.
class PngReader {
 public:
  explicit PngReader(std::span<const uint8_t> bytes) : bytes_(bytes) {
    png_ = png_create_read_struct(
        PNG_LIBPNG_VER_STRING, this,
        [](png_structp png, png_const_charp text) {
          static_cast<PngReader*>(png_get_error_ptr(png))->leave(text);
        },
        [](png_structp, png_const_charp) {});
    if (png_ != nullptr) info_ = png_create_info_struct(png_);
    if (info_ == nullptr) throw ResourceError("no memory to read a PNG");
    png_set_read_fn(png_, this, [](png_structp png, png_bytep to, size_t count) {
      static_cast<PngReader*>(png_get_io_ptr(png))->read(to, count);
    });
    // libpng refuses to allocate memory for a false header or a zip bomb in a text chunk.
    png_set_user_limits(png_, kMaxImageSide, kMaxImageSide);
    png_set_chunk_malloc_max(png_, 8U << 20U);
    // Chunks of which nothing is used here (a false size of Exif data would cost its memory) are skipped.
    png_set_keep_unknown_chunks(png_, PNG_HANDLE_CHUNK_NEVER, nullptr, -1);
  }
  ~PngReader() { png_destroy_read_struct(&png_, &info_, nullptr); }
  PngReader(const PngReader&) = delete;
  PngReader& operator=(const PngReader&) = delete;

  png_structp png() const { return png_; }
  png_infop info() const { return info_; }

  template <class Body>
  void run(Body body) {
    if (setjmp(jump_) != 0) throw DataError("damaged PNG: " + std::string(message_));
    body();
  }

 private:
  [[noreturn]] void leave(const char* text) {
    std::strncpy(message_, text, sizeof message_ - 1);
    std::longjmp(jump_, 1);
  }
  void read(png_bytep to, size_t count) {
    if (count > bytes_.size() - at_) png_error(png_, "the file ends early");
    std::memcpy(to, bytes_.data() + at_, count);
    at_ += count;
  }

  std::span<const uint8_t> bytes_;
  size_t at_ = 0;
  png_structp png_ = nullptr;
  png_infop info_ = nullptr;
  std::jmp_buf jump_{};
  char message_[128] = {};  // NOLINT(modernize-avoid-c-arrays): written just before a longjmp
};

using PngColors = std::vector<std::array<uint8_t, 3>>;

PngColors palette_of(const png_color* colors, int count) {
  PngColors palette;
  for (int i = 0; i < count; ++i) palette.push_back({colors[i].red, colors[i].green, colors[i].blue});
  return palette;
}

/// Whether pixels are read with their alpha. Call outside of `run`.
bool keeps_alpha(PngReader& r, const DecodeRequest& request, int channels) {
  const int type = png_get_color_type(r.png(), r.info());
  if ((type & PNG_COLOR_MASK_ALPHA) != 0) return wants_alpha(request, channels);
  if (png_get_valid(r.png(), r.info(), PNG_INFO_tRNS) == 0) return false;
  if (type != PNG_COLOR_TYPE_PALETTE) return channels == kAlphaChannels;  // one color marks transparency
  png_bytep alpha = nullptr;
  png_colorp colors = nullptr;
  int entries = 0;
  int count = 0;
  png_get_tRNS(r.png(), r.info(), &alpha, &entries, nullptr);
  png_get_PLTE(r.png(), r.info(), &colors, &count);
  return wants_alpha_of_palette(request, channels, palette_of(colors, count),
                                {alpha, alpha == nullptr ? 0U : static_cast<size_t>(entries)});
}

/// Makes libpng return gray or RGB of a depth for any file, with or without alpha. Gray is not computed from
/// colors here: libpng would apply the file's gamma, unlike all other readers.
void set_output(PngReader& r, int channels, Depth depth, bool with_alpha) {
  png_structp png = r.png();
  const int type = png_get_color_type(png, r.info());
  png_set_expand(png);
  if (depth == Depth::k8) {
    png_set_strip_16(png);
  } else {
    png_set_expand_16(png);
    if (std::endian::native == std::endian::little) png_set_swap(png);
  }
  if (!with_alpha) png_set_strip_alpha(png);
  const bool gray = (type & PNG_COLOR_MASK_COLOR) == 0;
  if (gray && channels >= 3) png_set_gray_to_rgb(png);
}

/// `rows` are those of the whole image if it is interlaced, otherwise none.
void read_region(PngReader& r, const Region& region, cv::Mat& wide, std::vector<png_bytep>& rows) {
  if (!rows.empty()) {  // interlaced: the passes need all rows
    png_read_image(r.png(), rows.data());
    png_read_end(r.png(), nullptr);
    return;
  }
  for (int y = 0; y < region.y; ++y) png_read_row(r.png(), wide.ptr(0), nullptr);
  for (int y = 0; y < region.height; ++y) png_read_row(r.png(), wide.ptr(y), nullptr);
  const auto height = static_cast<int>(png_get_image_height(r.png(), r.info()));
  if (region.y + region.height == height) png_read_end(r.png(), nullptr);  // checks the CRC of the last chunk
}

}  // namespace

bool is_png(std::span<const uint8_t> b) {
  return b.size() >= kSignature && png_sig_cmp(b.data(), 0, kSignature) == 0;
}

ImageSize read_png_header(std::span<const uint8_t> b) {
  // Signature, then the IHDR chunk: length, name, width, height, ... Parsed by hand, because the limits come
  // first.
  const auto big_endian = [&b](size_t at) {
    return (uint32_t{b[at]} << 24U) | (uint32_t{b[at + 1]} << 16U) | (uint32_t{b[at + 2]} << 8U) | b[at + 3];
  };
  if (b.size() < 33 || std::memcmp(b.data() + 12, "IHDR", 4) != 0) {
    throw DataError("damaged PNG: incomplete header (" + std::to_string(b.size()) + " bytes)");
  }
  const uint32_t width = big_endian(16);
  const uint32_t height = big_endian(20);
  if (width > PNG_UINT_31_MAX || height > PNG_UINT_31_MAX) throw DataError("damaged PNG: sizes above 2^31");
  return {static_cast<int>(width), static_cast<int>(height)};
}

bool has_png_alpha(std::span<const uint8_t> bytes) {
  PngReader r(bytes);
  r.run([&r] { png_read_info(r.png(), r.info()); });
  return keeps_alpha(r, {.background = Background{}}, 3);
}

bool is_16_bit_png(std::span<const uint8_t> header) {
  constexpr size_t kBitDepth = 24;
  return header.size() > kBitDepth && is_png(header) && header[kBitDepth] == 16;
}

std::vector<std::array<uint8_t, 3>> read_png_values(std::span<const uint8_t> bytes, cv::Mat& out) {
  const ImageSize size = read_png_header(bytes);
  PngReader r(bytes);
  png_colorp colors = nullptr;
  int count = 0;
  r.run([&r, &colors, &count] {
    png_read_info(r.png(), r.info());
    if (png_get_color_type(r.png(), r.info()) == PNG_COLOR_TYPE_PALETTE)
      png_get_PLTE(r.png(), r.info(), &colors, &count);
    png_set_packing(r.png());
    png_set_strip_alpha(r.png());
    png_set_interlace_handling(r.png());
    png_read_update_info(r.png(), r.info());
  });
  out.create(size.height, size.width, CV_8UC(png_get_channels(r.png(), r.info())));
  TPACK_ASSERT(png_get_rowbytes(r.png(), r.info()) == out.step[0], "libpng returned an unexpected row size");
  std::vector<png_bytep> rows;
  for (int y = 0; y < size.height; ++y) rows.push_back(out.ptr(y));
  r.run([&r, &rows] {
    png_read_image(r.png(), rows.data());
    png_read_end(r.png(), nullptr);
  });
  return palette_of(colors, count);
}

Box decode_png(std::span<const uint8_t> bytes, const DecodeRequest& request, int channels, cv::Mat& out) {
  PngReader r(bytes);
  const bool is_deep =
      request.depth == Depth::k16 || (request.depth == Depth::kFloat && is_16_bit_png(bytes));
  const Depth depth = is_deep ? Depth::k16 : Depth::k8;
  r.run([&r] { png_read_info(r.png(), r.info()); });
  const bool with_alpha = keeps_alpha(r, request, channels);
  r.run([&r, channels, depth, with_alpha] {
    set_output(r, channels, depth, with_alpha);
    png_set_interlace_handling(r.png());
    png_read_update_info(r.png(), r.info());
  });
  const int width = static_cast<int>(png_get_image_width(r.png(), r.info()));
  const int height = static_cast<int>(png_get_image_height(r.png(), r.info()));
  const bool interlaced = png_get_interlace_type(r.png(), r.info()) != PNG_INTERLACE_NONE;
  const Region& region = request.region;
  const int kept = interlaced ? height : region.height;
  const int channels_read = png_get_channels(r.png(), r.info());
  cv::Mat wide = out;
  wide.create(kept, width, CV_MAKETYPE(depth == Depth::k8 ? CV_8U : CV_16U, channels_read));
  TPACK_ASSERT(png_get_rowbytes(r.png(), r.info()) == wide.step[0], "libpng returned an unexpected row size");
  std::vector<png_bytep> rows;
  for (int y = 0; interlaced && y < height; ++y) rows.push_back(wide.ptr(y));
  r.run([&r, &region, &wide, &rows] { read_region(r, region, wide, rows); });
  wide = wide(cv::Rect(region.x, interlaced ? region.y : 0, region.width, region.height));
  return give_pixels(wide, request, channels, out);
}

}  // namespace tpack
