#include "dataflow/format/image_codec.h"

#include "core/error.h"
#include "dataflow/format/image_formats.h"
#include "dataflow/format/orientation.h"
#include "system/file_kind.h"

namespace tpack {
namespace {

std::string no_image(std::span<const uint8_t> bytes) {
  const FileKind kind = kind_of_content({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  const std::string wanted = "a " + image_format_names() + " image";
  if (!kind.is_known()) return "not " + wanted + " (" + std::to_string(bytes.size()) + " bytes)";
  const bool is_picture = kind.form == FileKind::Form::kPicture;
  return kind.rejected_as(wanted, is_picture ? "convert it to JPEG or PNG" : "");
}

const ImageFormat& require_format(std::span<const uint8_t> bytes) {
  const ImageFormat* const format = image_format_of(bytes);
  if (format == nullptr) throw DataError(no_image(bytes));
  return *format;
}

}  // namespace

ImageSize read_image_header(std::span<const uint8_t> bytes) {
  const ImageSize size = require_format(bytes).read_header(bytes);
  const int64_t pixels = int64_t{size.width} * size.height;
  if (size.width > kMaxImageSide || size.height > kMaxImageSide || pixels > kMaxImagePixels) {
    throw DataError("an image of " + size.str() + " pixels; at most 64 megapixels and " +
                    std::to_string(kMaxImageSide) + " pixels per side are supported");
  }
  if (pixels == 0) throw DataError("an image of " + size.str() + " pixels");
  return oriented(size, read_orientation(bytes));
}

Box decode_image(std::span<const uint8_t> bytes, const DecodeRequest& request, int channels, cv::Mat& out) {
  const ImageFormat& format = require_format(bytes);
  const Orientation orientation = read_orientation(bytes);
  if (orientation.upright()) return format.decode(bytes, request, channels, out);
  const ImageSize stored = format.read_header(bytes);
  DecodeRequest turned = request;
  turned.region = stored_region(request.region, stored, orientation);
  Box part = format.decode(bytes, turned, channels, out);
  turn_upright(out, part, orientation);
  return part;
}

}  // namespace tpack
