#include <algorithm>
#include <array>
#include <cstring>
#include <gif_lib.h>
#include <string>

#include <opencv2/core/mat.hpp>

#include "core/error.h"
#include "dataflow/format/gif_codes.h"
#include "dataflow/format/image_formats.h"
#include "dataflow/format/stored_pixels.h"
#include "dataflow/pixel_memory.h"
#include "system/shared_library.h"

namespace tpack {
namespace {

struct GifLibrary {
  SharedLibrary library{"libgif.so.7", "libgif7"};
  decltype(&DGifOpen) open = nullptr;
  decltype(&DGifCloseFile) close = nullptr;
  decltype(&DGifGetRecordType) record_type = nullptr;
  decltype(&DGifGetImageDesc) image_description = nullptr;
  decltype(&DGifGetExtension) extension = nullptr;
  decltype(&DGifGetExtensionNext) next_extension = nullptr;
  decltype(&DGifGetCode) codes = nullptr;
  decltype(&DGifGetCodeNext) next_codes = nullptr;
  decltype(&GifErrorString) error_text = nullptr;

  GifLibrary() {
    library.find("DGifOpen", open);
    library.find("DGifCloseFile", close);
    library.find("DGifGetRecordType", record_type);
    library.find("DGifGetImageDesc", image_description);
    library.find("DGifGetExtension", extension);
    library.find("DGifGetExtensionNext", next_extension);
    library.find("DGifGetCode", codes);
    library.find("DGifGetCodeNext", next_codes);
    library.find("GifErrorString", error_text);
  }
};

const GifLibrary& gif_library() {
  static const GifLibrary kLibrary;
  return kLibrary;
}

/// Reads the first frame of bytes in memory, row by row.
class GifReader {
 public:
  explicit GifReader(EncodedBytes bytes) : rest_(bytes) {
    int error = 0;
    gif_ = gif_library().open(
        this,
        [](GifFileType* gif, GifByteType* to, int count) {
          return static_cast<GifReader*>(gif->UserData)->read(to, count);
        },
        &error);
    if (gif_ == nullptr) leave(error);
    try {
      find_frame();
    } catch (...) {
      gif_library().close(gif_, &error);
      throw;
    }
  }
  ~GifReader() {
    int error = 0;
    gif_library().close(gif_, &error);
  }
  GifReader(const GifReader&) = delete;
  GifReader& operator=(const GifReader&) = delete;

  /// Browsers cut frames at the edges of the canvas; Pillow enlarges it, as is done here.
  ImageSize canvas() const {
    const GifImageDesc& frame = gif_->Image;
    return {std::max<int>(gif_->SWidth, frame.Left + frame.Width),
            std::max<int>(gif_->SHeight, frame.Top + frame.Height)};
  }

  /// The index of each pixel in the colors.
  void read_indices(cv::Mat& canvas) {
    const GifImageDesc& frame = gif_->Image;
    canvas.setTo(std::max(0, transparent_));
    constexpr std::array<int, 4> kFirst = {0, 4, 2, 1};
    constexpr std::array<int, 4> kStep = {8, 8, 4, 2};
    GifCodes codes = codes_of_frame();
    if (!frame.Interlace) read_rows(0, 1, codes, canvas);
    for (size_t pass = 0; frame.Interlace && pass < kFirst.size(); ++pass)
      read_rows(kFirst.at(pass), kStep.at(pass), codes, canvas);
    codes.skip_rest();
  }

  /// Black where the file has no color; gray if it has none at all.
  std::array<cv::Vec3b, 256> colors() const {
    std::array<cv::Vec3b, 256> all{};
    const ColorMapObject* map = gif_->Image.ColorMap != nullptr ? gif_->Image.ColorMap : gif_->SColorMap;
    for (size_t i = 0; i < all.size(); ++i) {
      const auto gray = static_cast<uint8_t>(i);
      if (map == nullptr) {
        all[i] = {gray, gray, gray};
      } else if (i < static_cast<size_t>(map->ColorCount)) {
        all[i] = {map->Colors[i].Red, map->Colors[i].Green, map->Colors[i].Blue};
      }
    }
    return all;
  }

 private:
  [[noreturn]] static void leave(int error) {
    const char* text = gif_library().error_text(error);
    if (error == D_GIF_ERR_READ_FAILED) text = "the file ends early";
    if (error == D_GIF_ERR_NOT_ENOUGH_MEM) throw ResourceError("no memory to read a GIF");
    throw DataError("damaged GIF: " + std::string(text == nullptr ? "the data are not valid" : text));
  }
  void check(int result) const {
    if (result != GIF_OK) leave(gif_->Error);
  }

  int read(GifByteType* to, int count) {
    const size_t given = std::min(rest_.size(), static_cast<size_t>(count));
    std::copy_n(rest_.begin(), given, to);
    rest_ = rest_.subspan(given);
    return static_cast<int>(given);
  }

  void find_frame() {
    for (;;) {
      GifRecordType type = UNDEFINED_RECORD_TYPE;
      check(gif_library().record_type(gif_, &type));
      if (type == IMAGE_DESC_RECORD_TYPE) break;
      if (type != EXTENSION_RECORD_TYPE) throw DataError("damaged GIF: no image in it");
      read_extension();
    }
    check(gif_library().image_description(gif_));
    if (gif_->Image.Width <= 0 || gif_->Image.Height <= 0) throw DataError("damaged GIF: an empty frame");
  }
  void read_extension() {
    int code = 0;
    GifByteType* block = nullptr;  // its length first
    check(gif_library().extension(gif_, &code, &block));
    if (code == GRAPHICS_EXT_FUNC_CODE && block != nullptr && block[0] >= 4 && (block[1] & 1U) != 0)
      transparent_ = block[4];
    while (block != nullptr) check(gif_library().next_extension(gif_, &block));
  }

  GifCodes codes_of_frame() {
    int bits = 0;
    GifByteType* first = nullptr;  // its length first
    check(gif_library().codes(gif_, &bits, &first));
    const auto bytes_of = [](GifByteType* block) {
      return block == nullptr ? EncodedBytes() : EncodedBytes(block + 1, block[0]);
    };
    return {bits, bytes_of(first), [this, bytes_of] {
              GifByteType* block = nullptr;
              check(gif_library().next_codes(gif_, &block));
              return bytes_of(block);
            }};
  }
  void read_rows(int first, int step, GifCodes& codes, cv::Mat& canvas) {
    const GifImageDesc& frame = gif_->Image;
    for (int y = first; y < frame.Height; y += step)
      codes.read({canvas.ptr(frame.Top + y) + frame.Left, static_cast<size_t>(frame.Width)});
  }

  EncodedBytes rest_;
  GifFileType* gif_ = nullptr;
  int transparent_ = -1;  // index of that color
};

}  // namespace

bool is_gif(EncodedBytes bytes) {
  return bytes.size() >= 6 &&
         (std::memcmp(bytes.data(), "GIF87a", 6) == 0 || std::memcmp(bytes.data(), "GIF89a", 6) == 0);
}

ImageSize read_gif_header(EncodedBytes bytes) { return GifReader(bytes).canvas(); }

Box decode_gif(EncodedBytes bytes, const DecodeRequest& request, int channels, cv::Mat& out) {
  GifReader reader(bytes);
  const ImageSize size = reader.canvas();
  cv::Mat indices = pooled_mat(size.height, size.width, CV_8U);
  reader.read_indices(indices);
  const auto colors = reader.colors();
  const Region& region = request.region;
  cv::Mat pixels = pooled_mat(region.height, region.width, CV_8UC3);
  for (int y = 0; y < region.height; ++y) {
    const uint8_t* from = indices.ptr(region.y + y) + region.x;
    auto* const to = pixels.ptr<cv::Vec3b>(y);
    for (int x = 0; x < region.width; ++x) to[x] = colors[from[x]];
  }
  return give_pixels(pixels, channels, request.depth, out);
}

}  // namespace tpack
