#pragma once

#include <array>
#include <cstdarg>
#include <cstdint>
#include <span>
#include <vector>

#include <opencv2/core/mat.hpp>

#include "image/image.h"

struct tiff;  // of libtiff

namespace tpack {

/// Properties of the pixels of a TIFF page; numbers as in the TIFF 6.0 specification.
struct TiffHeader {
  ImageSize size;
  uint16_t bits = 1;  // per sample
  uint16_t samples = 1;
  uint16_t format = 1;   // of a sample; 1: unsigned integer
  uint16_t meaning = 1;  // "photometric interpretation"
  uint16_t compression = 1;
  bool has_planes = false;  // each sample in its own plane
  bool is_tiled = false;
  bool has_alpha = false;      // the first sample after the colors
  bool is_multiplied = false;  // the colors are multiplied by their alpha
  ImageSize block;             // a tile or a strip
};

/// Red, green and blue of each index.
using TiffColors = std::array<std::array<uint8_t, 3>, 256>;

/// A TIFF in memory, read by libtiff. Errors: DataError; ResourceError without the library. Threads: one at a
/// time.
class TiffFile {
 public:
  explicit TiffFile(std::span<const uint8_t> bytes);
  ~TiffFile();
  TiffFile(const TiffFile&) = delete;
  TiffFile& operator=(const TiffFile&) = delete;

  /// Header of the first page, or of the last opened one.
  const TiffHeader& header() const { return header_; }
  /// `directory`: one of tiff_directories.
  void open_page(uint32_t directory);
  /// The colors of a palette with up to 8 bits.
  TiffColors colors();
  /// Requests RGB for samples that JPEG stores as YCbCr.
  void convert_to_rgb();
  size_t bytes_of_block() const;
  size_t bytes_of_row() const;  // of a block
  /// Unpacks the tile or strip whose first pixel is (x, y). `rows`: number of its rows inside the image.
  void read_block(int x, int y, uint16_t plane, int rows, std::span<uint8_t> out);
  /// Red, green, blue and alpha of the whole image, which the library computes. `out`: of its size, 32 bits
  /// per pixel.
  void read_rgba(cv::Mat& out);

 private:
  static intptr_t read(void* self, void* to, intptr_t count);
  static uint64_t seek(void* self, uint64_t offset, int origin);
  static int on_error(tiff* file, void* self, const char* module, const char* format, va_list values);
  static int on_warning(tiff* file, void* self, const char* module, const char* format, va_list values);

  void read_header(uint32_t directory);
  void check(bool is_right);
  /// Errors: DataError if the library would return pixels that are not in the file. `wanted`: bytes of
  /// pixels; 0: unknown.
  void check_block(uint32_t block, size_t wanted);

  std::span<const uint8_t> bytes_;
  uint64_t at_ = 0;
  tiff* file_ = nullptr;
  TiffHeader header_;
  std::vector<uint8_t> unpacked_;  // to check a block
  bool is_damaged_ = false;
  std::array<char, 200> message_{};  // the first one
};

}  // namespace tpack
