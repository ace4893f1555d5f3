#include "dataflow/format/image_codec.h"

#include "core/error.h"
#include "dataflow/format/orientation.h"
#include "system/file_kind.h"

namespace tpack {
namespace {

Box decode_stored(std::span<const uint8_t> bytes, const DecodeRequest& request, int channels, cv::Mat& out) {
  if (is_jpeg(bytes)) return decode_jpeg(bytes, request, channels, out);
  decode_png(bytes, request, channels, out);
  return {0, 0, static_cast<double>(request.region.width), static_cast<double>(request.region.height)};
}

std::string no_image(std::span<const uint8_t> bytes) {
  const FileKind kind = kind_of_content({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  if (!kind.is_known()) return "neither a JPEG nor a PNG image (" + std::to_string(bytes.size()) + " bytes)";
  return kind.rejected_as("a JPEG or PNG image");
}

}  // namespace

ImageSize read_image_header(std::span<const uint8_t> bytes) {
  ImageSize size;
  if (is_jpeg(bytes)) {
    size = read_jpeg_header(bytes);
  } else if (is_png(bytes)) {
    size = read_png_header(bytes);
  } else {
    throw DataError(no_image(bytes));
  }
  const int64_t pixels = int64_t{size.width} * size.height;
  if (size.width > kMaxImageSide || size.height > kMaxImageSide || pixels > kMaxImagePixels) {
    throw DataError("an image of " + size.str() + " pixels; at most 64 megapixels and " +
                    std::to_string(kMaxImageSide) + " pixels per side are supported");
  }
  if (pixels == 0) throw DataError("an image of " + size.str() + " pixels");
  return oriented(size, read_orientation(bytes));
}

Box decode_image(std::span<const uint8_t> bytes, const DecodeRequest& request, int channels, cv::Mat& out) {
  const Orientation orientation = read_orientation(bytes);
  if (orientation.upright()) return decode_stored(bytes, request, channels, out);
  const ImageSize stored = is_jpeg(bytes) ? read_jpeg_header(bytes) : read_png_header(bytes);
  DecodeRequest turned = request;
  turned.region = stored_region(request.region, stored, orientation);
  turned.shrinks_to = oriented(request.shrinks_to, orientation);
  Box part = decode_stored(bytes, turned, channels, out);
  turn_upright(out, part, orientation);
  return part;
}

}  // namespace tpack
