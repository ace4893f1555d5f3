#include <array>
#include <csetjmp>
#include <cstdio>
#include <cstdlib>
#include <string>

#include <jpeglib.h>
#include <opencv2/core.hpp>

#include "core/error.h"
#include "image/format/image_codec.h"

namespace tpack {
namespace {

/// libjpeg's encoder with its errors as exceptions. Because it returns by longjmp on an error, nothing with a
/// destructor may be created inside `write`.
class JpegWriter {
 public:
  JpegWriter() {
    c_.err = jpeg_std_error(&errors_);
    c_.client_data = this;
    errors_.error_exit = [](j_common_ptr c) {
      auto* self = static_cast<JpegWriter*>(c->client_data);
      c->err->format_message(c, self->message_.data());
      std::longjmp(self->jump_, 1);
    };
    errors_.output_message = [](j_common_ptr) {};
  }
  ~JpegWriter() {
    jpeg_destroy_compress(&c_);
    std::free(bytes_);
  }
  JpegWriter(const JpegWriter&) = delete;
  JpegWriter& operator=(const JpegWriter&) = delete;

  void write(const cv::Mat& pixels, int quality) {
    if (setjmp(jump_) != 0) throw DataError("cannot make a JPEG: " + std::string(message_.data()));
    jpeg_create_compress(&c_);
    jpeg_mem_dest(&c_, &bytes_, &size_);
    c_.image_width = static_cast<JDIMENSION>(pixels.cols);
    c_.image_height = static_cast<JDIMENSION>(pixels.rows);
    c_.input_components = pixels.channels();
    c_.in_color_space = pixels.channels() == 1 ? JCS_GRAYSCALE : JCS_RGB;
    jpeg_set_defaults(&c_);
    jpeg_set_quality(&c_, quality, TRUE);
    jpeg_start_compress(&c_, TRUE);
    for (int y = 0; y < pixels.rows; ++y) {
      auto* row = const_cast<JSAMPROW>(pixels.ptr(y));
      jpeg_write_scanlines(&c_, &row, 1);
    }
    jpeg_finish_compress(&c_);
  }
  std::vector<uint8_t> bytes() const { return {bytes_, bytes_ + size_}; }

 private:
  jpeg_compress_struct c_{};
  jpeg_error_mgr errors_{};
  std::jmp_buf jump_{};
  std::array<char, JMSG_LENGTH_MAX> message_{};
  unsigned char* bytes_ = nullptr;
  unsigned long size_ = 0;  // NOLINT(google-runtime-int): libjpeg's type
};

}  // namespace

std::vector<uint8_t> write_jpeg(const cv::Mat& pixels, int quality) {
  JpegWriter writer;
  writer.write(pixels, quality);
  return writer.bytes();
}

}  // namespace tpack
