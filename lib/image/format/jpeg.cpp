#include <algorithm>
#include <array>
#include <csetjmp>
#include <cstdio>
#include <jerror.h>
#include <string>

#include <jpeglib.h>

#include "core/error.h"
#include "image/format/image_formats.h"
#include "image/format/stored_pixels.h"
#include "image/pixel_memory.h"

namespace tpack {
namespace {

/// libjpeg's decoder with its errors as exceptions. libjpeg returns by longjmp on an error, so nothing with a
/// destructor may be created inside `run`.
class JpegReader {
 public:
  JpegReader() {
    c_.err = jpeg_std_error(&errors_);
    c_.client_data = this;
    errors_.error_exit = [](j_common_ptr c) { self(c).leave(c); };
    errors_.emit_message = [](j_common_ptr c, int level) { self(c).warn(c, level); };
    errors_.output_message = [](j_common_ptr) {};
    create();
  }
  ~JpegReader() { jpeg_destroy_decompress(&c_); }
  JpegReader(const JpegReader&) = delete;
  JpegReader& operator=(const JpegReader&) = delete;

  jpeg_decompress_struct* operator->() { return &c_; }
  jpeg_decompress_struct* get() { return &c_; }

  template <class Body>
  void run(Body body) {
    if (setjmp(jump_) != 0) {
      jpeg_abort_decompress(&c_);
      throw DataError("damaged JPEG: " + std::string(message_.data()));
    }
    body();
  }
  void read_header(std::span<const uint8_t> bytes) {
    forget_tables();
    run([this, bytes] {
      jpeg_mem_src(&c_, bytes.data(), bytes.size());
      jpeg_read_header(&c_, TRUE);
    });
  }

 private:
  void create() {
    run([this] { jpeg_create_decompress(&c_); });
  }
  /// libjpeg keeps the tables of one image for the next, so that a file without them would get those of
  /// another file. It also keeps the memory of tables that it has forgotten, until it is created again.
  void forget_tables() {
    constexpr int kMostForgotten = 32;
    if (++forgotten_ == kMostForgotten) {
      jpeg_destroy_decompress(&c_);
      create();
      forgotten_ = 0;
      return;
    }
    jpeg_abort_decompress(&c_);
    std::fill(std::begin(c_.quant_tbl_ptrs), std::end(c_.quant_tbl_ptrs), nullptr);
    std::fill(std::begin(c_.dc_huff_tbl_ptrs), std::end(c_.dc_huff_tbl_ptrs), nullptr);
    std::fill(std::begin(c_.ac_huff_tbl_ptrs), std::end(c_.ac_huff_tbl_ptrs), nullptr);
  }

  static JpegReader& self(j_common_ptr c) { return *static_cast<JpegReader*>(c->client_data); }

  [[noreturn]] void leave(j_common_ptr c) {
    errors_.format_message(c, message_.data());
    std::longjmp(jump_, 1);
  }
  /// libjpeg fills missing parts with gray and only warns; a sample must not be half gray.
  void warn(j_common_ptr c, int level) {
    const int code = errors_.msg_code;
    const bool lost = code == JWRN_JPEG_EOF || code == JWRN_HIT_MARKER || code == JWRN_HUFF_BAD_CODE ||
                      code == JWRN_MUST_RESYNC;
    if (level < 0 && lost) leave(c);
  }

  jpeg_decompress_struct c_{};
  jpeg_error_mgr errors_{};
  int forgotten_ = 0;  // how many times, since it was created
  std::jmp_buf jump_{};
  std::array<char, JMSG_LENGTH_MAX> message_{};
};

JpegReader& reader() {
  thread_local JpegReader kept;  // creating one per image costs as much as decoding a thumbnail
  return kept;
}

/// Eighths of the full size to decode at: the smallest that leaves the region large enough. 4, 2 and 1 have
/// SIMD code, the sizes in between do not.
int choose_scale(const DecodeRequest& r) {
  int scale = 8;
  while (scale > 1 && r.shrinks_by * scale >= 2 * kReducedMargin * 8) scale /= 2;
  return scale;
}

/// The region in the pixels of the reduced image, rounded outwards.
Region scaled(const Region& r, int scale) {
  const auto down = [scale](int v) { return v * scale / 8; };
  const auto up = [scale](int v) { return (v * scale + 7) / 8; };
  return {down(r.x), down(r.y), up(r.x + r.width) - down(r.x), up(r.y + r.height) - down(r.y)};
}

/// The position of `r` in its scaled region.
Box place_in_scaled(const Region& r, int scale) {
  const Region outer = scaled(r, scale);
  const auto exact = [scale](int v) { return v * scale / 8.0; };
  return {exact(r.x) - outer.x, exact(r.y) - outer.y, exact(r.width), exact(r.height)};
}

struct DecodedColumns {
  JDIMENSION first = 0;
  JDIMENSION count = 0;
};

/// Limits decoding to the needed columns, with one more block on each side: color at a cut edge is
/// interpolated from the neighbor that was cut off.
DecodedColumns limit_columns(jpeg_decompress_struct* c, const Region& r) {
  const int margin = c->max_h_samp_factor * c->min_DCT_scaled_size;
  const int first = std::max(0, r.x - margin);
  const int last = std::min(static_cast<int>(c->output_width), r.x + r.width + margin);
  DecodedColumns columns{static_cast<JDIMENSION>(first), static_cast<JDIMENSION>(last - first)};
  if (columns.count < c->output_width) jpeg_crop_scanline(c, &columns.first, &columns.count);
  return columns;
}

void read_rows(jpeg_decompress_struct* c, const Region& r, cv::Mat& wide) {
  if (r.y > 0) jpeg_skip_scanlines(c, static_cast<JDIMENSION>(r.y));
  for (int y = 0; y < r.height;) {
    std::array<JSAMPROW, 4> rows{};
    const int count = std::min(static_cast<int>(rows.size()), r.height - y);
    for (int i = 0; i < count; ++i) rows.at(static_cast<size_t>(i)) = wide.ptr(y + i);
    y += static_cast<int>(jpeg_read_scanlines(c, rows.data(), static_cast<JDIMENSION>(count)));
  }
}

/// Adobe's inverted CMYK to RGB.
cv::Mat rgb_of_inverted_inks(const cv::Mat& inks) {
  cv::Mat out = pooled_mat(inks.rows, inks.cols, CV_8UC3);
  for (int y = 0; y < inks.rows; ++y) {
    const uint8_t* from = inks.ptr(y);
    uint8_t* to = out.ptr(y);
    for (int x = 0; x < inks.cols; ++x, from += 4, to += 3) {
      const auto black = static_cast<uint8_t>(255 - from[3]);
      for (int i = 0; i < 3; ++i) to[i] = light_of_ink(static_cast<uint8_t>(255 - from[i]), black);
    }
  }
  return out;
}

}  // namespace

bool is_jpeg(std::span<const uint8_t> b) {
  return b.size() >= 3 && b[0] == 0xFF && b[1] == 0xD8 && b[2] == 0xFF;
}

ImageSize read_jpeg_header(std::span<const uint8_t> bytes) {
  JpegReader& jpeg = reader();
  jpeg.read_header(bytes);
  return {static_cast<int>(jpeg->image_width), static_cast<int>(jpeg->image_height)};
}

Box decode_jpeg(std::span<const uint8_t> bytes, const DecodeRequest& request, int channels, cv::Mat& out) {
  JpegReader& jpeg = reader();
  jpeg.read_header(bytes);
  const bool cmyk = jpeg->jpeg_color_space == JCS_CMYK || jpeg->jpeg_color_space == JCS_YCCK;
  const J_COLOR_SPACE plain = channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
  jpeg->out_color_space = cmyk ? JCS_CMYK : plain;
  const int scale = choose_scale(request);
  jpeg->scale_num = static_cast<unsigned>(scale);
  jpeg->scale_denom = 8;
  const Region region = scaled(request.region, scale);
  DecodedColumns columns;
  jpeg.run([&jpeg, &columns, &region] {
    jpeg_start_decompress(jpeg.get());
    columns = limit_columns(jpeg.get(), region);
  });
  cv::Mat wide = out;
  wide.create(region.height, static_cast<int>(columns.count), CV_8UC(cmyk ? 4 : channels == 1 ? 1 : 3));
  jpeg.run([&jpeg, &region, &wide] {
    read_rows(jpeg.get(), region, wide);
    jpeg_abort_decompress(jpeg.get());
  });
  wide = wide.colRange(region.x - static_cast<int>(columns.first),
                       region.x - static_cast<int>(columns.first) + region.width);
  give_pixels(cmyk ? rgb_of_inverted_inks(wide) : wide, request, channels, out);
  return place_in_scaled(request.region, scale);
}

}  // namespace tpack
