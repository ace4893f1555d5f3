#include <algorithm>
#include <array>
#include <cstring>
#include <gif_lib.h>
#include <string>
#include <vector>

#include <opencv2/core/mat.hpp>

#include "core/error.h"
#include "image/format/gif_codes.h"
#include "image/format/image_formats.h"
#include "image/format/stored_pixels.h"
#include "image/frames.h"
#include "image/pixel_memory.h"
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

/// Red, green, blue and alpha of each index.
using GifColors = std::array<cv::Vec4b, 256>;

/// Reads frames of bytes in memory, row by row. There is at least one.
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
      if (!next_frame()) throw DataError("damaged GIF: it has no image");
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

  /// Browsers cut frames at the edges of the canvas; this code enlarges the canvas, like Pillow.
  ImageSize canvas() const {
    const GifImageDesc& frame = gif_->Image;
    return {std::max<int>(gif_->SWidth, frame.Left + frame.Width),
            std::max<int>(gif_->SHeight, frame.Top + frame.Height)};
  }

  /// Moves on to the next frame, whose pixels are then read or skipped; false at the end of the file.
  bool next_frame() {
    transparent_ = -1;
    for (;;) {
      GifRecordType type = UNDEFINED_RECORD_TYPE;
      check(gif_library().record_type(gif_, &type));
      if (type == IMAGE_DESC_RECORD_TYPE) break;
      if (type != EXTENSION_RECORD_TYPE) return false;
      read_extension();
    }
    check(gif_library().image_description(gif_));
    if (gif_->Image.Width <= 0 || gif_->Image.Height <= 0) throw DataError("damaged GIF: an empty frame");
    return true;
  }
  cv::Rect place() const {
    const GifImageDesc& frame = gif_->Image;
    return {frame.Left, frame.Top, frame.Width, frame.Height};
  }
  /// Index of the transparent color of this frame; -1: none.
  int transparent() const { return transparent_; }
  /// How to dispose of this frame before the next one; without a setting, it stays.
  int disposal() const { return disposal_; }
  int background() const { return gif_->SColorMap == nullptr ? 0 : gif_->SBackGroundColor; }

  /// The index of each pixel of the frame in the colors. `to`: of its size.
  void read_indices(cv::Mat to) {
    constexpr std::array<int, 4> kFirst = {0, 4, 2, 1};
    constexpr std::array<int, 4> kStep = {8, 8, 4, 2};
    GifCodes codes = codes_of_frame();
    if (!gif_->Image.Interlace) read_rows(0, 1, codes, to);
    for (size_t pass = 0; gif_->Image.Interlace && pass < kFirst.size(); ++pass)
      read_rows(kFirst.at(pass), kStep.at(pass), codes, to);
    codes.skip_rest();
  }
  void skip_pixels() {
    int bits = 0;
    GifByteType* block = nullptr;
    check(gif_library().codes(gif_, &bits, &block));
    while (block != nullptr) check(gif_library().next_codes(gif_, &block));
  }

  /// Black for missing colors; gray if the file has no colors. With alpha: 0 for the transparent color if
  /// requested.
  GifColors colors(const DecodeRequest& request, int channels) const {
    const ColorMapObject* map = gif_->Image.ColorMap != nullptr ? gif_->Image.ColorMap : gif_->SColorMap;
    std::vector<std::array<uint8_t, 3>> stored;
    for (int i = 0; i < (map == nullptr ? 256 : std::min(map->ColorCount, 256)); ++i) {
      const auto gray = static_cast<uint8_t>(i);
      if (map == nullptr)
        stored.push_back({gray, gray, gray});
      else
        stored.push_back({map->Colors[i].Red, map->Colors[i].Green, map->Colors[i].Blue});
    }
    GifColors all;
    all.fill({0, 0, 0, 255});
    for (size_t i = 0; i < stored.size(); ++i) all.at(i) = {stored[i][0], stored[i][1], stored[i][2], 255};
    std::vector<uint8_t> alpha(256, 255);
    if (transparent_ >= 0) alpha[static_cast<size_t>(transparent_)] = 0;
    if (transparent_ >= 0 && wants_alpha_of_palette(request, channels, stored, alpha))
      all.at(static_cast<size_t>(transparent_))[3] = 0;
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

  void read_extension() {
    int code = 0;
    GifByteType* block = nullptr;  // its length first
    check(gif_library().extension(gif_, &code, &block));
    if (code == GRAPHICS_EXT_FUNC_CODE && block != nullptr && block[0] >= 4) {
      if ((block[1] & 1U) != 0) transparent_ = block[4];
      const auto disposal = static_cast<int>(block[1] >> 2U & 7U);
      if (disposal != 0) disposal_ = disposal;
    }
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
  static void read_rows(int first, int step, GifCodes& codes, cv::Mat& to) {
    for (int y = first; y < to.rows; y += step) codes.read({to.ptr(y), static_cast<size_t>(to.cols)});
  }

  EncodedBytes rest_;
  GifFileType* gif_ = nullptr;
  int transparent_ = -1;
  int disposal_ = 0;
};

/// The canvas with each frame over the one before, as in Pillow.
class GifCanvas {
 public:
  GifCanvas(EncodedBytes bytes, const DecodeRequest& request, int channels)
      : reader_(bytes), request_(request), channels_(channels) {
    const ImageSize size = reader_.canvas();
    pixels_ = pooled_mat(size.height, size.width, CV_8UC4);
    pixels_.setTo(
        reader_.colors(request_, channels_)[static_cast<size_t>(std::max(0, reader_.transparent()))]);
    draw();
  }
  const cv::Mat& pixels() const { return pixels_; }
  /// Errors: DataError if there is none.
  void next() {
    is_first_ = false;
    if (!hidden_.empty()) hidden_.copyTo(pixels_(place_));
    if (!reader_.next_frame()) throw DataError("damaged GIF: a frame is missing");
    const cv::Rect whole(0, 0, pixels_.cols, pixels_.rows);
    if ((reader_.place() & whole) != reader_.place())
      throw DataError("damaged GIF: a frame reaches beyond the canvas");
    draw();
  }

 private:
  static constexpr int kToBackground = 2;

  void draw() {
    place_ = reader_.place();
    const GifColors colors = reader_.colors(request_, channels_);
    const int transparent = reader_.transparent();
    keep_what_comes_back(colors);
    cv::Mat indices = pooled_mat(place_.height, place_.width, CV_8U);
    reader_.read_indices(indices);
    for (int y = 0; y < indices.rows; ++y) {
      const uint8_t* from = indices.ptr(y);
      auto* const to = pixels_.ptr<cv::Vec4b>(place_.y + y) + place_.x;
      for (int x = 0; x < indices.cols; ++x)
        if (is_first_ || from[x] != transparent) to[x] = colors[from[x]];
    }
  }
  /// The content that replaces this frame before the next one is drawn; empty: the frame stays.
  void keep_what_comes_back(const GifColors& colors) {
    const int transparent = reader_.transparent();
    const bool is_filled = reader_.disposal() == kToBackground || (is_first_ && transparent >= 0);
    hidden_.release();
    if (reader_.disposal() < kToBackground || (is_first_ && !is_filled)) return;
    hidden_ = pooled_mat(place_.height, place_.width, CV_8UC4);
    if (is_filled)
      hidden_.setTo(colors[static_cast<size_t>(transparent >= 0 ? transparent : reader_.background())]);
    else
      pixels_(place_).copyTo(hidden_);
  }

  GifReader reader_;
  const DecodeRequest& request_;
  int channels_;
  cv::Mat pixels_;  // with alpha
  cv::Rect place_;  // of the last frame
  cv::Mat hidden_;
  bool is_first_ = true;
};

int64_t count_gif_frames(EncodedBytes bytes) {
  GifReader reader(bytes);
  int64_t count = 0;
  do {
    reader.skip_pixels();
    ++count;
  } while (reader.next_frame());
  return count;
}

}  // namespace

bool is_gif(EncodedBytes bytes) {
  return bytes.size() >= 6 &&
         (std::memcmp(bytes.data(), "GIF87a", 6) == 0 || std::memcmp(bytes.data(), "GIF89a", 6) == 0);
}

bool has_gif_alpha(EncodedBytes bytes) { return GifReader(bytes).transparent() >= 0; }

ImageSize read_gif_header(EncodedBytes bytes) { return GifReader(bytes).canvas(); }

Box decode_gif(EncodedBytes bytes, const DecodeRequest& request, int channels, cv::Mat& out) {
  GifReader reader(bytes);
  const ImageSize size = reader.canvas();
  cv::Mat indices = pooled_mat(size.height, size.width, CV_8U);
  indices.setTo(std::max(0, reader.transparent()));
  reader.read_indices(indices(reader.place()));
  const GifColors colors = reader.colors(request, channels);
  const Region& region = request.region;
  cv::Mat pixels = pooled_mat(region.height, region.width, CV_8UC4);
  for (int y = 0; y < region.height; ++y) {
    const uint8_t* from = indices.ptr(region.y + y) + region.x;
    auto* const to = pixels.ptr<cv::Vec4b>(y);
    for (int x = 0; x < region.width; ++x) to[x] = colors[from[x]];
  }
  return give_pixels(pixels, request, channels, out);
}

std::vector<cv::Mat> decode_gif_frames(EncodedBytes bytes, const DecodeRequest& request, int channels) {
  const int64_t stored = count_gif_frames(bytes);
  const Region& r = request.region;
  GifCanvas canvas(bytes, request, channels);
  std::vector<cv::Mat> frames;
  int64_t at = 0;
  for (int i = 0; i < request.frames; ++i) {
    const int64_t wanted = frame_at(i, request.frames, stored);
    for (; at < wanted; ++at) canvas.next();
    const cv::Mat part = canvas.pixels()(cv::Rect(r.x, r.y, r.width, r.height)).clone();
    give_pixels(part, request, channels, frames.emplace_back());
  }
  return frames;
}

}  // namespace tpack
