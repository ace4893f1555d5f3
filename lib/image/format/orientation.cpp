#include "image/format/orientation.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <string_view>
#include <unordered_set>
#include <utility>

#include <opencv2/core.hpp>

#include "core/error.h"
#include "image/format/image_formats.h"
#include "image/format/riff.h"
#include "image/pixel_memory.h"

namespace tpack {
namespace {

using Bytes = std::span<const uint8_t>;

bool starts_with(Bytes bytes, std::string_view text) {
  return bytes.size() >= text.size() && std::memcmp(bytes.data(), text.data(), text.size()) == 0;
}

uint32_t big_endian(Bytes bytes) {
  uint32_t value = 0;
  for (const uint8_t byte : bytes) value = value << 8U | byte;
  return value;
}

/// The TIFF structure of Exif data: a header, then a list of entries of 12 bytes.
class Tiff {
 public:
  explicit Tiff(Bytes bytes) : bytes_(bytes), is_little_(starts_with(bytes, "II")) {}

  bool is_valid() const {
    constexpr uint32_t kTiffMark = 42;
    return (is_little_ || starts_with(bytes_, "MM")) && number(2, 2) == kTiffMark;
  }
  uint32_t first_list() const { return is_valid() ? number(4, 4) : 0; }
  /// The offset of the next list; 0 if there is none. Errors: DataError if the file ends before it.
  uint32_t next_list(uint32_t list) const {
    const size_t at = list + 2 + 12 * size_t{number(list, 2)};
    if (list == 0 || at + 4 > bytes_.size())
      throw DataError("damaged TIFF: a page begins outside of the file");
    return number(at, 4);
  }
  /// The value of an entry of a list that is one number; 0 if there is none.
  uint32_t value_of(uint32_t list_at, uint32_t tag) const {
    if (!is_valid()) return 0;
    const size_t list = list_at;
    for (size_t i = 0; i < number(list, 2); ++i) {
      const size_t entry = list + 2 + 12 * i;
      if (entry + 12 > bytes_.size()) return 0;
      if (number(entry, 2) != tag || number(entry + 4, 4) != 1) continue;
      constexpr uint32_t kShort = 3;
      constexpr uint32_t kLong = 4;
      const uint32_t type = number(entry + 2, 2);
      if (type == kShort || type == kLong) return number(entry + 8, type == kShort ? 2 : 4);
    }
    return 0;
  }

 private:
  /// 0 outside of the bytes.
  uint32_t number(size_t at, size_t count) const {
    if (at + count > bytes_.size()) return 0;
    std::array<uint8_t, 4> digits{};
    std::copy_n(bytes_.begin() + static_cast<ptrdiff_t>(at), count, digits.begin());
    const auto used = std::span(digits).first(count);
    if (is_little_) std::reverse(used.begin(), used.end());
    return big_endian(used);
  }

  Bytes bytes_;
  bool is_little_;
};

/// The TIFF structure in the markers before the pixels of a JPEG; empty if there is none.
Bytes exif_of_jpeg(Bytes bytes) {
  constexpr std::string_view kExif("Exif\0\0", 6);
  for (size_t at = 2; at + 4 <= bytes.size();) {
    const uint8_t marker = bytes[at + 1];
    if (bytes[at] != 0xFF || marker == 0xFF || marker == 0) {  // libjpeg also skips bytes between segments
      ++at;
      continue;
    }
    constexpr uint8_t kApp1 = 0xE1;
    constexpr uint8_t kStartOfScan = 0xDA;
    constexpr uint8_t kTemporary = 1;
    if (marker == kTemporary ||
        (marker >= 0xD0 && marker <= 0xD7)) {  // without content; libjpeg also skips them
      at += 2;
      continue;
    }
    const size_t length = big_endian(bytes.subspan(at + 2, 2));
    if (marker == kStartOfScan || length < 2 || at + 2 + length > bytes.size()) return {};
    const Bytes content = bytes.subspan(at + 4, length - 2);
    if (marker == kApp1 && starts_with(content, kExif)) return content.subspan(kExif.size());
    at += 2 + length;
  }
  return {};
}

Bytes exif_of_png(Bytes bytes) {
  constexpr size_t kSignature = 8;
  constexpr size_t kAroundContent = 12;  // length, name and checksum
  for (size_t at = kSignature; at + kAroundContent <= bytes.size();) {
    const size_t length = big_endian(bytes.subspan(at, 4));
    if (length > bytes.size() - at - kAroundContent) return {};
    if (starts_with(bytes.subspan(at + 4), "eXIf")) return bytes.subspan(at + 8, length);
    at += length + kAroundContent;
  }
  return {};
}

Bytes exif_of_webp(Bytes bytes) {
  constexpr size_t kHead = 12;
  constexpr std::string_view kExif("Exif\0\0", 6);  // some programs write it as in JPEG
  constexpr size_t kFlags = kHead + 8;              // of the chunk VP8X, the first one
  constexpr unsigned kHasExif = 8;
  const bool is_extended = bytes.size() > kFlags && starts_with(bytes.subspan(kHead), "VP8X");
  if (!is_extended || (bytes[kFlags] & kHasExif) == 0) return {};
  for (Bytes list = bytes.subspan(kHead); const auto chunk = next_riff_chunk(list);) {
    if (!chunk->is("EXIF")) continue;
    return starts_with(chunk->content, kExif) ? chunk->content.subspan(kExif.size()) : chunk->content;
  }
  return {};
}

/// The part with Exif data, or the data itself.
Bytes exif_of(Bytes bytes) {
  if (is_jpeg(bytes)) return exif_of_jpeg(bytes);
  if (is_png(bytes)) return exif_of_png(bytes);
  if (is_webp(bytes)) return exif_of_webp(bytes);
  return is_tiff(bytes) ? bytes : Bytes{};
}

}  // namespace

Orientation read_orientation(std::span<const uint8_t> bytes) {
  constexpr uint32_t kTag = 274;
  const Tiff tiff(exif_of(bytes));
  const uint32_t value = tiff.value_of(tiff.first_list(), kTag);
  constexpr std::array<Orientation, 9> kMeanings = {{{},
                                                     {},
                                                     {false, true, false},
                                                     {false, true, true},
                                                     {false, false, true},
                                                     {true, false, false},
                                                     {true, true, false},
                                                     {true, true, true},
                                                     {true, false, true}}};
  return value < kMeanings.size() ? kMeanings.at(value) : Orientation{};
}

uint32_t tiff_field(std::span<const uint8_t> tiff, uint32_t directory, uint32_t tag) {
  return Tiff(tiff).value_of(directory, tag);
}

uint32_t first_tiff_directory(std::span<const uint8_t> tiff) { return Tiff(tiff).first_list(); }

std::vector<uint32_t> tiff_directories(std::span<const uint8_t> tiff) {
  constexpr size_t kMostPages = 100'000;
  const Tiff file(tiff);
  std::vector<uint32_t> all;
  std::unordered_set<uint32_t> seen;
  for (uint32_t at = file.first_list(); at != 0 || all.empty(); at = file.next_list(at)) {
    if (!seen.insert(at).second) throw DataError("damaged TIFF: its pages are a loop");
    if (all.size() == kMostPages)
      throw DataError("a TIFF of more than 100,000 pages, which is not supported");
    all.push_back(at);
  }
  return all;
}

ImageSize oriented(ImageSize size, const Orientation& orientation) {
  if (orientation.transposed) std::swap(size.width, size.height);
  return size;
}

Region stored_region(const Region& upright, ImageSize stored, const Orientation& orientation) {
  const ImageSize size = oriented(stored, orientation);
  Region r = upright;
  if (orientation.mirrored_x) r.x = size.width - r.x - r.width;
  if (orientation.mirrored_y) r.y = size.height - r.y - r.height;
  return orientation.transposed ? Region{r.y, r.x, r.height, r.width} : r;
}

void turn_upright(cv::Mat& pixels, Box& part, const Orientation& orientation) {
  if (orientation.upright()) return;
  cv::Mat out = pooled_mat();
  if (orientation.transposed) {
    cv::transpose(pixels, out);
    part = {part.y, part.x, part.height, part.width};
  } else {
    pixels.copyTo(out);
  }
  if (orientation.mirrored_x) part.x = out.cols - part.x - part.width;
  if (orientation.mirrored_y) part.y = out.rows - part.y - part.height;
  if (orientation.mirrored_x) cv::flip(out, out, 1);
  if (orientation.mirrored_y) cv::flip(out, out, 0);
  pixels = out;
}

}  // namespace tpack
