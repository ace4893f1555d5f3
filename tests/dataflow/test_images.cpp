#include "dataflow/test_images.h"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <stdexcept>

#include <jpeglib.h>
#include <png.h>

namespace tpack {
namespace {

void append(png_structp png, png_bytep data, size_t size) {
  auto* to = static_cast<std::vector<uint8_t>*>(png_get_io_ptr(png));
  to->insert(to->end(), data, data + size);
}

std::vector<uint8_t> written_png(const cv::Mat& pixels, int bits, int color, int interlacing) {
  std::vector<uint8_t> bytes;
  png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, nullptr, nullptr, nullptr);
  png_infop info = png_create_info_struct(png);
  png_set_write_fn(png, &bytes, append, nullptr);
  png_set_IHDR(png, info, static_cast<png_uint_32>(pixels.cols), static_cast<png_uint_32>(pixels.rows), bits,
               color, interlacing, PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
  png_write_info(png, info);
  if (bits == 16)
    png_set_swap(png);  // a file has the high byte first, processors that run the tests the low one
  std::vector<png_bytep> rows;
  for (int y = 0; y < pixels.rows; ++y) rows.push_back(const_cast<png_bytep>(pixels.ptr(y)));
  png_write_image(png, rows.data());
  png_write_end(png, nullptr);
  png_destroy_write_struct(&png, &info);
  return bytes;
}

/// CRC-32 of a PNG's chunk.
uint32_t checksum(std::span<const uint8_t> bytes) {
  uint32_t sum = 0xFFFFFFFFU;
  for (const uint8_t byte : bytes) {
    sum ^= byte;
    for (int bit = 0; bit < 8; ++bit) sum = (sum >> 1U) ^ ((sum & 1U) != 0 ? 0xEDB88320U : 0U);
  }
  return ~sum;
}

}  // namespace

cv::Mat photo(int width, int height) {
  cv::Mat pixels(height, width, CV_8UC3);
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      const double wave = std::sin(x * 0.11) * std::cos(y * 0.07);
      const int edge = (x / 17 + y / 13) % 2 * 40;
      pixels.at<cv::Vec3b>(y, x) = {cv::saturate_cast<uint8_t>(100 + 90 * wave + edge),
                                    cv::saturate_cast<uint8_t>(120 + 60 * std::sin(x * 0.05) + edge),
                                    cv::saturate_cast<uint8_t>(60 + y % 100)};
    }
  }
  return pixels;
}

std::vector<uint8_t> encode_jpeg(const cv::Mat& pixels, int quality) {
  jpeg_compress_struct c{};
  jpeg_error_mgr errors{};
  c.err = jpeg_std_error(&errors);
  jpeg_create_compress(&c);
  unsigned char* data = nullptr;
  unsigned long size = 0;
  jpeg_mem_dest(&c, &data, &size);
  c.image_width = static_cast<JDIMENSION>(pixels.cols);
  c.image_height = static_cast<JDIMENSION>(pixels.rows);
  c.input_components = pixels.channels();
  c.in_color_space = pixels.channels() == 1 ? JCS_GRAYSCALE : JCS_RGB;
  jpeg_set_defaults(&c);
  jpeg_set_quality(&c, quality, TRUE);
  jpeg_start_compress(&c, TRUE);
  for (int y = 0; y < pixels.rows; ++y) {
    JSAMPROW row = const_cast<JSAMPROW>(pixels.ptr(y));
    jpeg_write_scanlines(&c, &row, 1);
  }
  jpeg_finish_compress(&c);
  std::vector<uint8_t> bytes(data, data + size);
  jpeg_destroy_compress(&c);
  std::free(data);
  return bytes;
}

std::vector<uint8_t> encode_png(const cv::Mat& pixels) {
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  image.width = static_cast<png_uint_32>(pixels.cols);
  image.height = static_cast<png_uint_32>(pixels.rows);
  image.format = pixels.channels() == 1   ? PNG_FORMAT_GRAY
                 : pixels.channels() == 3 ? PNG_FORMAT_RGB
                                          : PNG_FORMAT_RGBA;
  png_alloc_size_t size = 0;
  const auto stride = static_cast<png_int_32>(pixels.step[0]);
  png_image_write_to_memory(&image, nullptr, &size, 0, pixels.data, stride, nullptr);
  std::vector<uint8_t> bytes(size);
  if (png_image_write_to_memory(&image, bytes.data(), &size, 0, pixels.data, stride, nullptr) == 0) {
    throw std::runtime_error(image.message);
  }
  bytes.resize(size);
  return bytes;
}

std::vector<uint8_t> encode_deep_png(const cv::Mat& pixels) {
  return written_png(pixels, 16, pixels.channels() == 1 ? PNG_COLOR_TYPE_GRAY : PNG_COLOR_TYPE_RGB,
                     PNG_INTERLACE_NONE);
}

std::vector<uint8_t> with_orientation(const std::vector<uint8_t>& file, uint8_t orientation, bool little) {
  // A header, then a list with one entry: tag 274, of type 3 (a number of 16 bits), one value.
  std::vector<uint8_t> exif =
      little ? std::vector<uint8_t>{'I', 'I', 42, 0, 8, 0, 0, 0, 1, 0, 0x12, 1, 3, 0, 1, 0, 0, 0, 0, 0, 0, 0}
             : std::vector<uint8_t>{'M', 'M', 0, 42, 0, 0, 0, 8, 0, 1, 1, 0x12, 0, 3, 0, 0, 0, 1, 0, 0, 0, 0};
  exif[little ? 18 : 19] = orientation;
  exif.insert(exif.end(), {0, 0, 0, 0});  // no other list
  std::vector<uint8_t> chunk;
  size_t at = 2;
  if (file[0] == 0xFF) {
    chunk = {0xFF, 0xE1, 0, static_cast<uint8_t>(exif.size() + 8), 'E', 'x', 'i', 'f', 0, 0};
    chunk.insert(chunk.end(), exif.begin(), exif.end());
  } else {
    at = 33;  // after the signature and IHDR
    chunk = {0, 0, 0, static_cast<uint8_t>(exif.size()), 'e', 'X', 'I', 'f'};
    chunk.insert(chunk.end(), exif.begin(), exif.end());
    const uint32_t sum = checksum(std::span(chunk).subspan(4));
    for (const uint32_t shift : {24U, 16U, 8U, 0U}) chunk.push_back(static_cast<uint8_t>(sum >> shift));
  }
  std::vector<uint8_t> out = file;
  out.insert(out.begin() + static_cast<ptrdiff_t>(at), chunk.begin(), chunk.end());
  return out;
}

std::vector<uint8_t> encode_interlaced_png(const cv::Mat& pixels) {
  return written_png(pixels, 8, PNG_COLOR_TYPE_RGB, PNG_INTERLACE_ADAM7);
}

double largest_difference(const cv::Mat& a, const cv::Mat& b) { return cv::norm(a, b, cv::NORM_INF); }

}  // namespace tpack
