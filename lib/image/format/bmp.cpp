#include <algorithm>
#include <bit>
#include <string>

#include <opencv2/core/mat.hpp>

#include "core/error.h"
#include "image/format/image_formats.h"
#include "image/format/stored_pixels.h"
#include "image/pixel_memory.h"

namespace tpack {
namespace {

constexpr size_t kFileHeader = 14;  // the header of the image follows
constexpr uint32_t kOs2Header = 12;
constexpr std::array<uint32_t, 7> kHeaders = {kOs2Header, 40, 52, 56, 64, 108, 124};

enum BmpCompression : uint32_t { kUncompressed = 0, kRle8 = 1, kRle4 = 2, kMasks = 3, kMasksWithAlpha = 6 };

[[noreturn]] void damaged_bmp(const std::string& what) { throw DataError("damaged BMP: " + what); }

uint32_t bmp_number(EncodedBytes bytes, size_t at, size_t count) {
  if (at > bytes.size() || bytes.size() - at < count) damaged_bmp("the file ends early");
  uint32_t value = 0;
  for (size_t i = count; i > 0; --i) value = value << 8U | bytes[at + i - 1];
  return value;
}
uint32_t word32(EncodedBytes bytes, size_t at) { return bmp_number(bytes, at, 4); }
uint32_t word16(EncodedBytes bytes, size_t at) { return bmp_number(bytes, at, 2); }

/// The headers of a file. Source: MSDN, "Bitmap Header Types".
struct BmpHeader {
  ImageSize size;
  bool is_top_down = false;
  uint32_t bits = 0;  // per pixel
  uint32_t compression = kUncompressed;
  size_t palette_at = 0;
  size_t palette_colors = 0;
  size_t palette_entry = 4;    // bytes
  uint32_t color_limit = 256;  // larger indices are errors; indices from palette_colors up to it are black
  size_t pixels_at = 0;
  std::array<uint32_t, 3> masks = {};  // of red, green and blue; without a palette

  bool is_run_length() const { return compression == kRle8 || compression == kRle4; }
};

/// Blue, green and red in a byte each.
constexpr std::array<uint32_t, 3> kBgrBytes = {0xFF0000, 0xFF00, 0xFF};

void read_old_header(EncodedBytes bytes, BmpHeader& header) {
  header.size = {static_cast<int>(word16(bytes, 18)), static_cast<int>(word16(bytes, 20))};
  header.bits = word16(bytes, 24);
  header.palette_entry = 3;
  header.masks = kBgrBytes;
}

void read_masks(EncodedBytes bytes, BmpHeader& header) {
  if (header.bits == 16) header.masks = {0x7C00, 0x3E0, 0x1F};
  if (header.bits >= 24) header.masks = kBgrBytes;
  if (header.compression != kMasks && header.compression != kMasksWithAlpha) return;
  constexpr size_t kMasksAt = kFileHeader + 40;  // in all headers with masks, or after them
  std::array<uint32_t, 3> given = {};
  for (size_t i = 0; i < given.size(); ++i) given[i] = word32(bytes, kMasksAt + 4 * i);
  if (given != std::array<uint32_t, 3>{}) header.masks = given;
}

void read_new_header(EncodedBytes bytes, BmpHeader& header) {
  const auto width = static_cast<int32_t>(word32(bytes, 18));
  const auto height = static_cast<int32_t>(word32(bytes, 22));
  if (width < 0 || height == INT32_MIN) damaged_bmp("a negative size");
  header.is_top_down = height < 0;
  header.size = {width, std::abs(height)};
  header.bits = word16(bytes, 28);
  header.compression = word32(bytes, 30);
  header.palette_colors = word32(bytes, 46);
  read_masks(bytes, header);
}

void check_encoding(const BmpHeader& header, uint32_t header_bytes) {
  const uint32_t bits = header.bits;
  const uint32_t compression = header.compression;
  const bool has_masks = compression == kMasks || compression == kMasksWithAlpha;
  if (bits != 1 && bits != 2 && bits != 4 && bits != 8 && bits != 16 && bits != 24 && bits != 32)
    damaged_bmp(std::to_string(bits) + " bits per pixel");
  constexpr uint32_t kOs2HeaderOfVersion2 = 64;  // in which 3 and 4 mean other encodings
  const bool is_known = compression == kUncompressed || (compression == kRle8 && bits == 8) ||
                        (compression == kRle4 && bits == 4) ||
                        (has_masks && bits >= 16 && header_bytes != kOs2HeaderOfVersion2);
  if (!is_known)
    throw DataError("a BMP of compression " + std::to_string(compression) + " with " + std::to_string(bits) +
                    " bits per pixel, which is not supported; convert it to JPEG or PNG");
  if (header.is_run_length() && header.is_top_down) damaged_bmp("compressed rows from the top down");
}

/// Some files do not set the start of the pixels, or forget the palette there; others have fewer colors than
/// their bits allow.
void place_pixels(BmpHeader& header, uint32_t header_bytes) {
  const bool has_masks_behind = header.compression == kMasks && header_bytes == 40;
  const size_t first = header.palette_at + (has_masks_behind ? 12 : 0);
  const size_t colors_end = first + header.palette_colors * header.palette_entry;
  if (header.pixels_at == 0 || header.pixels_at == header.palette_at) header.pixels_at = colors_end;
  if (header.pixels_at < first) damaged_bmp("pixels within the header");
  if (header.pixels_at >= colors_end) return;
  header.palette_colors = (header.pixels_at - first) / header.palette_entry;
  header.color_limit = static_cast<uint32_t>(header.palette_colors);
}

BmpHeader parse_bmp(EncodedBytes bytes) {
  BmpHeader header;
  const uint32_t header_bytes = word32(bytes, kFileHeader);
  if (header_bytes == kOs2Header)
    read_old_header(bytes, header);
  else
    read_new_header(bytes, header);
  check_encoding(header, header_bytes);
  header.pixels_at = word32(bytes, 10);
  header.palette_at = kFileHeader + header_bytes;
  const size_t most = size_t{1} << header.bits;
  if (header.bits > 8)
    header.palette_colors = 0;
  else if (header.palette_colors == 0 || header.palette_colors > most)
    header.palette_colors = most;
  place_pixels(header, header_bytes);
  return header;
}

using Colors = std::array<cv::Vec3b, 256>;

/// Black for missing colors.
Colors read_palette(EncodedBytes bytes, const BmpHeader& header) {
  Colors colors{};
  for (size_t i = 0; i < header.palette_colors; ++i) {
    const size_t at = header.palette_at + i * header.palette_entry;
    const uint32_t color = bmp_number(bytes, at, 3);
    colors[i] = {static_cast<uint8_t>(color >> 16U), static_cast<uint8_t>(color >> 8U),
                 static_cast<uint8_t>(color)};
  }
  return colors;
}

cv::Vec3b color_of(uint32_t index, const BmpHeader& header, const Colors& colors) {
  if (index >= header.color_limit) damaged_bmp("a color index outside of the palette");
  return colors[index];
}

/// One channel of a pixel.
struct Channel {
  explicit Channel(uint32_t mask)
      : shift(mask == 0 ? 0 : std::countr_zero(mask)),
        largest(uint64_t{mask >> static_cast<unsigned>(shift)}) {}
  uint8_t of(uint32_t pixel) const {
    const uint64_t value = (pixel >> static_cast<unsigned>(shift)) & largest;
    return largest == 0 ? 0 : static_cast<uint8_t>(value * 255 / largest);
  }
  int shift;
  uint64_t largest;
};

void read_masked_row(const BmpHeader& header, EncodedBytes row, const Region& region, cv::Vec3b* out) {
  const std::array<Channel, 3> channels = {Channel(header.masks[0]), Channel(header.masks[1]),
                                           Channel(header.masks[2])};
  const size_t bytes = header.bits / 8;
  if (header.bits >= 24 && header.masks == kBgrBytes) {  // most files
    const uint8_t* from = row.data() + static_cast<size_t>(region.x) * bytes;
    for (int x = 0; x < region.width; ++x, from += bytes) out[x] = {from[2], from[1], from[0]};
    return;
  }
  for (int x = 0; x < region.width; ++x) {
    const uint32_t pixel = bmp_number(row, static_cast<size_t>(region.x + x) * bytes, bytes);
    out[x] = {channels[0].of(pixel), channels[1].of(pixel), channels[2].of(pixel)};
  }
}

void read_palette_row(const BmpHeader& header, const Colors& colors, EncodedBytes row, const Region& region,
                      cv::Vec3b* out) {
  const uint32_t bits = header.bits;
  for (int x = 0; x < region.width; ++x) {
    const size_t bit = static_cast<size_t>(region.x + x) * bits;
    const uint32_t index =
        (static_cast<uint32_t>(row[bit / 8]) >> (8U - bits - bit % 8)) & ((1U << bits) - 1U);
    out[x] = color_of(index, header, colors);
  }
}

void read_plain_rows(EncodedBytes bytes, const BmpHeader& header, const Region& region, cv::Mat& out) {
  const size_t used = (static_cast<size_t>(header.size.width) * header.bits + 7) / 8;
  const size_t stride = (used + 3) / 4 * 4;
  const auto height = static_cast<size_t>(header.size.height);
  if (header.pixels_at > bytes.size() || bytes.size() - header.pixels_at < stride * (height - 1) + used)
    damaged_bmp("the file ends early");
  const Colors colors = read_palette(bytes, header);
  for (int y = 0; y < region.height; ++y) {
    const auto from_top = static_cast<size_t>(region.y) + static_cast<size_t>(y);
    const size_t stored = header.is_top_down ? from_top : height - 1 - from_top;
    const EncodedBytes row = bytes.subspan(header.pixels_at + stored * stride, used);
    auto* const to = out.ptr<cv::Vec3b>(y);
    if (header.bits <= 8)
      read_palette_row(header, colors, row, region, to);
    else
      read_masked_row(header, row, region, to);
  }
}

/// Unpacks run-length encoded pixels. Skipped pixels have the first color.
class RunLengthReader {
 public:
  RunLengthReader(EncodedBytes bytes, const BmpHeader& header)
      : bytes_(bytes),
        at_(header.pixels_at),
        is_rle4_(header.compression == kRle4),
        indices_(pooled_mat(header.size.height, header.size.width, CV_8U)) {
    indices_.setTo(0);
  }

  /// The indices of all pixels, from the top down.
  cv::Mat read() {
    while (!is_at_end()) {
      const uint32_t count = next();
      const uint32_t value = next();
      if (count > 0)
        repeat(count, value);
      else if (value == 0)
        start_row(y_ + 1);
      else if (value == 1)
        return indices_;
      else if (value == 2)
        skip();
      else
        copy(value);
    }
    return indices_;
  }

 private:
  /// Some files have no end mark.
  bool is_at_end() const { return at_ == bytes_.size() && y_ >= indices_.rows - 1 && x_ >= indices_.cols; }
  uint32_t next() { return bmp_number(bytes_, at_++, 1); }
  void start_row(int y) {
    y_ = y;
    x_ = 0;
    if (y_ > indices_.rows) damaged_bmp("too many rows");
  }
  void skip() {
    const auto right = static_cast<int>(next());
    y_ += static_cast<int>(next());
    x_ += right;
    if (y_ > indices_.rows || x_ > indices_.cols) damaged_bmp("a position outside of the image");
  }
  void repeat(uint32_t count, uint32_t value) {
    for (uint32_t i = 0; i < count; ++i) put(is_rle4_ ? half(value, i) : value);
  }
  void copy(uint32_t count) {
    uint32_t value = 0;
    for (uint32_t i = 0; i < count; ++i) {
      if (!is_rle4_ || i % 2 == 0) value = next();
      put(is_rle4_ ? half(value, i) : value);
    }
    const uint32_t used = is_rle4_ ? (count + 1) / 2 : count;
    if (used % 2 == 1) next();
  }
  static uint32_t half(uint32_t value, uint32_t i) { return i % 2 == 0 ? value >> 4U : value & 15U; }
  /// Runs may go beyond the end of a row; such pixels do not count.
  void put(uint32_t index) {
    if (y_ >= indices_.rows) damaged_bmp("too many rows");
    if (x_ < indices_.cols) indices_.at<uint8_t>(indices_.rows - 1 - y_, x_++) = static_cast<uint8_t>(index);
  }

  EncodedBytes bytes_;
  size_t at_;
  bool is_rle4_;
  cv::Mat indices_;
  int x_ = 0;
  int y_ = 0;  // from the bottom up
};

void read_run_lengths(EncodedBytes bytes, const BmpHeader& header, const Region& region, cv::Mat& out) {
  const cv::Mat indices = RunLengthReader(bytes, header).read();
  const Colors colors = read_palette(bytes, header);
  for (int y = 0; y < region.height; ++y) {
    const uint8_t* from = indices.ptr(region.y + y) + region.x;
    auto* const to = out.ptr<cv::Vec3b>(y);
    for (int x = 0; x < region.width; ++x) to[x] = color_of(from[x], header, colors);
  }
}

}  // namespace

bool is_bmp(EncodedBytes bytes) {
  return bytes.size() >= kFileHeader + 12 && bytes[0] == 'B' && bytes[1] == 'M' &&
         std::find(kHeaders.begin(), kHeaders.end(), word32(bytes, kFileHeader)) != kHeaders.end();
}

ImageSize read_bmp_header(EncodedBytes bytes) { return parse_bmp(bytes).size; }

Box decode_bmp(EncodedBytes bytes, const DecodeRequest& request, int channels, cv::Mat& out) {
  const BmpHeader header = parse_bmp(bytes);
  const Region& region = request.region;
  cv::Mat pixels = pooled_mat(region.height, region.width, CV_8UC3);
  if (header.is_run_length())
    read_run_lengths(bytes, header, region, pixels);
  else
    read_plain_rows(bytes, header, region, pixels);
  return give_pixels(pixels, request, channels, out);
}

}  // namespace tpack
