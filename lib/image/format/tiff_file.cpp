#include "image/format/tiff_file.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <tiffio.h>

#include <libdeflate.h>

#include "core/error.h"
#include "image/format/orientation.h"
#include "system/shared_library.h"

namespace tpack {
namespace {

struct TiffLibrary {
  SharedLibrary library{"libtiff.so.6", "libtiff6"};
  decltype(&TIFFOpenOptionsAlloc) new_options = nullptr;
  decltype(&TIFFOpenOptionsFree) free_options = nullptr;
  decltype(&TIFFOpenOptionsSetMaxSingleMemAlloc) limit_memory = nullptr;
  decltype(&TIFFOpenOptionsSetErrorHandlerExtR) on_error = nullptr;
  decltype(&TIFFOpenOptionsSetWarningHandlerExtR) on_warning = nullptr;
  decltype(&TIFFClientOpenExt) open = nullptr;
  decltype(&TIFFClose) close = nullptr;
  decltype(&TIFFGetField) field = nullptr;
  decltype(&TIFFGetFieldDefaulted) field_or_default = nullptr;
  decltype(&TIFFSetField) set_field = nullptr;
  decltype(&TIFFSetSubDirectory) set_directory = nullptr;
  decltype(&TIFFIsTiled) is_tiled = nullptr;
  decltype(&TIFFScanlineSize64) row_bytes = nullptr;
  decltype(&TIFFTileRowSize64) tile_row_bytes = nullptr;
  decltype(&TIFFStripSize64) strip_bytes = nullptr;
  decltype(&TIFFTileSize64) tile_bytes = nullptr;
  decltype(&TIFFNumberOfStrips) strips = nullptr;
  decltype(&TIFFNumberOfTiles) tiles = nullptr;
  decltype(&TIFFComputeStrip) strip_at = nullptr;
  decltype(&TIFFComputeTile) tile_at = nullptr;
  decltype(&TIFFGetStrileOffset) offset_of_block = nullptr;
  decltype(&TIFFGetStrileByteCount) bytes_of_block = nullptr;
  decltype(&TIFFReadEncodedStrip) read_strip = nullptr;
  decltype(&TIFFReadEncodedTile) read_tile = nullptr;
  decltype(&TIFFReadRGBAImageOriented) read_rgba = nullptr;

  TiffLibrary() {
    library.find("TIFFOpenOptionsAlloc", new_options);
    library.find("TIFFOpenOptionsFree", free_options);
    library.find("TIFFOpenOptionsSetMaxSingleMemAlloc", limit_memory);
    library.find("TIFFOpenOptionsSetErrorHandlerExtR", on_error);
    library.find("TIFFOpenOptionsSetWarningHandlerExtR", on_warning);
    library.find("TIFFClientOpenExt", open);
    library.find("TIFFClose", close);
    library.find("TIFFGetField", field);
    library.find("TIFFGetFieldDefaulted", field_or_default);
    library.find("TIFFSetField", set_field);
    library.find("TIFFSetSubDirectory", set_directory);
    library.find("TIFFIsTiled", is_tiled);
    library.find("TIFFScanlineSize64", row_bytes);
    library.find("TIFFTileRowSize64", tile_row_bytes);
    library.find("TIFFStripSize64", strip_bytes);
    library.find("TIFFTileSize64", tile_bytes);
    library.find("TIFFNumberOfStrips", strips);
    library.find("TIFFNumberOfTiles", tiles);
    library.find("TIFFComputeStrip", strip_at);
    library.find("TIFFComputeTile", tile_at);
    library.find("TIFFGetStrileOffset", offset_of_block);
    library.find("TIFFGetStrileByteCount", bytes_of_block);
    library.find("TIFFReadEncodedStrip", read_strip);
    library.find("TIFFReadEncodedTile", read_tile);
    library.find("TIFFReadRGBAImageOriented", read_rgba);
  }
};

const TiffLibrary& tiff_library() {
  static const TiffLibrary kLibrary;
  return kLibrary;
}

bool is_deflated(const TiffHeader& header) {
  return header.compression == COMPRESSION_ADOBE_DEFLATE || header.compression == COMPRESSION_DEFLATE;
}

libdeflate_decompressor* inflater() {
  struct Free {
    void operator()(libdeflate_decompressor* d) const { libdeflate_free_decompressor(d); }
  };
  thread_local std::unique_ptr<libdeflate_decompressor, Free> kept(libdeflate_alloc_decompressor());
  if (kept == nullptr) throw ResourceError("no memory to read a TIFF");
  return kept.get();
}

}  // namespace

TiffFile::TiffFile(std::span<const uint8_t> bytes) : bytes_(bytes) {
  const TiffLibrary& library = tiff_library();
  const std::unique_ptr<TIFFOpenOptions, decltype(library.free_options)> options(library.new_options(),
                                                                                 library.free_options);
  // The sizes of tiles and strips are checked; this is for what the library itself allocates.
  constexpr tmsize_t kMostBytes = 512L << 20U;
  library.limit_memory(options.get(), kMostBytes);
  library.on_error(options.get(), on_error, this);
  library.on_warning(options.get(), on_warning, this);
  const auto no_write = [](void*, void*, tmsize_t) -> tmsize_t { return 0; };
  const auto stay_open = [](void*) { return 0; };
  const auto size = [](void* self) -> toff_t { return static_cast<TiffFile*>(self)->bytes_.size(); };
  // m: the library does not map the bytes.
  file_ = library.open("image", "rm", this, read, no_write, seek, stay_open, size, nullptr, nullptr,
                       options.get());
  try {
    check(file_ != nullptr);
    read_header(first_tiff_directory(bytes));
  } catch (...) {
    if (file_ != nullptr) library.close(file_);
    throw;
  }
}

TiffFile::~TiffFile() { tiff_library().close(file_); }

void TiffFile::convert_to_rgb() {
  check(tiff_library().set_field(file_, TIFFTAG_JPEGCOLORMODE, JPEGCOLORMODE_RGB) != 0);
}

TiffColors TiffFile::colors() {
  const uint16_t* red = nullptr;
  const uint16_t* green = nullptr;
  const uint16_t* blue = nullptr;
  check(tiff_library().field(file_, TIFFTAG_COLORMAP, &red, &green, &blue) != 0);
  TiffColors all{};
  const auto upper = [](uint16_t value) { return static_cast<uint8_t>(value >> 8U); };
  for (size_t i = 0; i < size_t{1} << header_.bits; ++i)
    all.at(i) = {upper(red[i]), upper(green[i]), upper(blue[i])};
  return all;
}

size_t TiffFile::bytes_of_row() const {
  return header_.is_tiled ? tiff_library().tile_row_bytes(file_) : tiff_library().row_bytes(file_);
}
size_t TiffFile::bytes_of_block() const { return bytes_of_row() * static_cast<size_t>(header_.block.height); }

void TiffFile::read_block(int x, int y, uint16_t plane, int rows, std::span<uint8_t> out) {
  const auto left = static_cast<uint32_t>(x);
  const auto top = static_cast<uint32_t>(y);
  const size_t wanted = bytes_of_row() * static_cast<size_t>(header_.is_tiled ? header_.block.height : rows);
  TPACK_ASSERT(wanted <= out.size(), "a block of a TIFF needs more room");
  const auto bytes = static_cast<tmsize_t>(wanted);
  const TiffLibrary& library = tiff_library();
  const uint32_t block =
      header_.is_tiled ? library.tile_at(file_, left, top, 0, plane) : library.strip_at(file_, top, plane);
  check_block(block, wanted);
  const tmsize_t got = header_.is_tiled ? library.read_tile(file_, block, out.data(), bytes)
                                        : library.read_strip(file_, block, out.data(), bytes);
  check(got == bytes);
}

void TiffFile::check_block(uint32_t block, size_t wanted) {
  const TiffLibrary& library = tiff_library();
  const uint64_t offset = library.offset_of_block(file_, block);
  const uint64_t stored = library.bytes_of_block(file_, block);
  // If an uncompressed block is missing or too short, the library uses other bytes of the file as pixels.
  if (stored == 0 || (header_.compression == COMPRESSION_NONE && stored < wanted))
    throw DataError("damaged TIFF: a part of the pixels is missing");
  uint16_t order = FILLORDER_MSB2LSB;
  library.field_or_default(file_, TIFFTAG_FILLORDER, &order);
  if (!is_deflated(header_) || order != FILLORDER_MSB2LSB) return;
  if (offset > bytes_.size() || stored > bytes_.size() - offset)
    throw DataError("damaged TIFF: the file ends early");
  // If a block has more data than pixels, libtiff 4.5 does not notice that libdeflate returned no pixels or
  // wrong ones. Some programs write the last strip as high as the others: zlib reads its beginning.
  unpacked_.resize(header_.is_tiled ? library.tile_bytes(file_) : library.strip_bytes(file_));
  size_t got = 0;
  const libdeflate_result result = libdeflate_zlib_decompress(inflater(), bytes_.data() + offset, stored,
                                                              unpacked_.data(), unpacked_.size(), &got);
  check(result == LIBDEFLATE_SUCCESS);
  if (got > wanted) check(library.set_field(file_, TIFFTAG_DEFLATE_SUBCODEC, DEFLATE_SUBCODEC_ZLIB) != 0);
}

void TiffFile::read_rgba(cv::Mat& out) {
  const auto width = static_cast<uint32_t>(header_.size.width);
  const auto height = static_cast<uint32_t>(header_.size.height);
  TPACK_ASSERT(out.isContinuous() && out.elemSize() == 4 && out.total() == size_t{width} * height,
               "room for an image of 32 bits per pixel");
  const TiffLibrary& library = tiff_library();
  const uint32_t blocks = header_.is_tiled ? library.tiles(file_) : library.strips(file_);
  for (uint32_t block = 0; block < blocks; ++block) check_block(block, 0);
  // All images are turned in one place, not by the library.
  library.set_field(file_, TIFFTAG_ORIENTATION, ORIENTATION_TOPLEFT);
  constexpr int kStopOnError = 1;
  check(library.read_rgba(file_, width, height, reinterpret_cast<uint32_t*>(out.data), ORIENTATION_TOPLEFT,
                          kStopOnError) != 0);
}

intptr_t TiffFile::read(void* self, void* to, intptr_t count) {
  auto& file = *static_cast<TiffFile*>(self);
  const uint64_t rest = file.bytes_.size() - std::min<uint64_t>(file.at_, file.bytes_.size());
  const uint64_t given = std::min<uint64_t>(rest, count < 0 ? 0 : static_cast<uint64_t>(count));
  if (given > 0) std::memcpy(to, file.bytes_.data() + file.at_, given);
  file.at_ += given;
  return static_cast<intptr_t>(given);
}

uint64_t TiffFile::seek(void* self, uint64_t offset, int origin) {
  auto& file = *static_cast<TiffFile*>(self);
  if (origin == SEEK_SET) file.at_ = offset;
  if (origin == SEEK_CUR) file.at_ += offset;
  if (origin == SEEK_END) file.at_ = file.bytes_.size() + offset;
  return file.at_;
}

int TiffFile::on_error(tiff* /*file*/, void* self, const char* /*module*/, const char* format,
                       va_list values) {
  auto& file = *static_cast<TiffFile*>(self);
  if (!file.is_damaged_) std::vsnprintf(file.message_.data(), file.message_.size(), format, values);
  file.is_damaged_ = true;
  return 1;
}

/// The JPEG decoder fills missing parts with gray and only warns. Other warnings are about unknown fields.
int TiffFile::on_warning(tiff* file, void* self, const char* module, const char* format, va_list values) {
  constexpr std::string_view kJpeg = "JPEGLib";
  return module != nullptr && module == kJpeg ? on_error(file, self, module, format, values) : 1;
}

void TiffFile::open_page(uint32_t directory) {
  check(tiff_library().set_directory(file_, directory) != 0);
  read_header(directory);
}

void TiffFile::read_header(uint32_t directory) {
  const TiffLibrary& library = tiff_library();
  header_ = {};
  uint32_t width = 0;
  uint32_t height = 0;
  library.field(file_, TIFFTAG_IMAGEWIDTH, &width);
  library.field(file_, TIFFTAG_IMAGELENGTH, &height);
  if (width > INT32_MAX || height > INT32_MAX) throw DataError("damaged TIFF: sizes above 2^31");
  header_.size = {static_cast<int>(width), static_cast<int>(height)};
  library.field_or_default(file_, TIFFTAG_BITSPERSAMPLE, &header_.bits);
  library.field_or_default(file_, TIFFTAG_SAMPLESPERPIXEL, &header_.samples);
  library.field_or_default(file_, TIFFTAG_SAMPLEFORMAT, &header_.format);
  library.field_or_default(file_, TIFFTAG_COMPRESSION, &header_.compression);
  if (library.field(file_, TIFFTAG_PHOTOMETRIC, &header_.meaning) == 0)
    throw DataError("damaged TIFF: the meaning of its values is missing (PhotometricInterpretation)");
  // The library reads indices as gray if the colors are missing, for example where the file ends early.
  if (header_.meaning != PHOTOMETRIC_PALETTE &&
      tiff_field(bytes_, directory, TIFFTAG_PHOTOMETRIC) == PHOTOMETRIC_PALETTE)
    throw DataError("damaged TIFF: the color palette is missing");
  uint16_t extra = 0;
  const uint16_t* kinds = nullptr;
  library.field(file_, TIFFTAG_EXTRASAMPLES, &extra, &kinds);
  header_.is_multiplied = extra > 0 && kinds[0] == EXTRASAMPLE_ASSOCALPHA;
  header_.has_alpha = header_.is_multiplied || (extra > 0 && kinds[0] == EXTRASAMPLE_UNASSALPHA);
  uint16_t planes = PLANARCONFIG_CONTIG;
  library.field_or_default(file_, TIFFTAG_PLANARCONFIG, &planes);
  header_.has_planes = planes == PLANARCONFIG_SEPARATE && header_.samples > 1;
  header_.is_tiled = library.is_tiled(file_) != 0;
  uint32_t block_width = width;
  uint32_t block_height = height;
  if (header_.is_tiled) {
    library.field(file_, TIFFTAG_TILEWIDTH, &block_width);
    library.field(file_, TIFFTAG_TILELENGTH, &block_height);
    if (block_width == 0 || block_height == 0 || block_width > INT32_MAX || block_height > INT32_MAX)
      throw DataError("damaged TIFF: wrong sizes of tiles");
  } else {
    uint32_t rows = height;
    library.field_or_default(file_, TIFFTAG_ROWSPERSTRIP, &rows);
    block_height = rows == 0 ? height : std::min(rows, height);
  }
  header_.block = {static_cast<int>(block_width), static_cast<int>(block_height)};
}

void TiffFile::check(bool is_right) {
  if (is_right && !is_damaged_) return;
  throw DataError("damaged TIFF: " + std::string(is_damaged_
                                                     ? message_.data()
                                                     : "the file ends early or its data are not valid"));
}

}  // namespace tpack
