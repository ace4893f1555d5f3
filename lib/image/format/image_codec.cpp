#include "image/format/image_codec.h"

#include <opencv2/core.hpp>

#include "core/error.h"
#include "image/format/image_formats.h"
#include "image/format/orientation.h"
#include "image/frames.h"
#include "image/pixel_memory.h"
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

/// The position of the pixels in the stored image, and the conversion.
struct StoredRequest {
  DecodeRequest request;
  Orientation orientation;
};

StoredRequest stored_request(EncodedBytes bytes, const ImageFormat& format, const DecodeRequest& request) {
  StoredRequest out{request, request.upright ? read_orientation(bytes) : Orientation{}};
  if (out.orientation.upright()) return out;
  out.request.region = stored_region(request.region, format.read_header(bytes), out.orientation);
  return out;
}

Box decode_frames(EncodedBytes bytes, const DecodeRequest& request, int channels, cv::Mat& out) {
  const ImageFormat& format = require_format(bytes);
  if (format.decode_frames == nullptr)
    throw DataError("a " + std::string(format.name) + " has one frame, but 'frames' is " +
                    std::to_string(request.frames) + "; set frames: 1");
  const StoredRequest stored = stored_request(bytes, format, request);
  std::vector<cv::Mat> frames = format.decode_frames(bytes, stored.request, channels);
  for (cv::Mat& frame : frames) {
    Box all;
    turn_upright(frame, all, stored.orientation);
  }
  out = stacked_frames(frames);
  return {0, 0, static_cast<double>(out.cols), static_cast<double>(out.rows)};
}

}  // namespace

ImageSize read_image_header(std::span<const uint8_t> bytes, const ImageForm& form) {
  const int frames = form.frames;
  const int max_megapixels = form.max_megapixels;
  const ImageSize size = require_format(bytes).read_header(bytes);
  const bool has_long_side = size.width > kMaxImageSide || size.height > kMaxImageSide;
  const int64_t pixels = has_long_side ? 0 : int64_t{size.width} * size.height * frames;
  if (has_long_side || pixels > int64_t{max_megapixels} * 1'000'000) {
    throw DataError("an image of " + size.str() + " pixels" +
                    (frames > 1 ? " and " + std::to_string(frames) + " frames" : "") + "; at most " +
                    std::to_string(max_megapixels) + " megapixels (max_megapixels) and " +
                    std::to_string(kMaxImageSide) + " pixels per side are supported");
  }
  if (pixels == 0) throw DataError("an image of " + size.str() + " pixels");
  return form.upright ? oriented(size, read_orientation(bytes)) : size;
}

Box decode_image(std::span<const uint8_t> bytes, const DecodeRequest& request, int channels, cv::Mat& out) {
  if (request.frames > 1) return decode_frames(bytes, request, channels, out);
  const ImageFormat& format = require_format(bytes);
  const StoredRequest stored = stored_request(bytes, format, request);
  Box part = format.decode(bytes, stored.request, channels, out);
  turn_upright(out, part, stored.orientation);
  return part;
}

bool shows_background(std::span<const uint8_t> bytes) {
  const ImageFormat& format = require_format(bytes);
  if (format.has_alpha == nullptr || !format.has_alpha(bytes)) return false;
  const ImageSize size = read_image_header(bytes, {.upright = false});
  const auto onto = [&](uint8_t gray) {
    cv::Mat out = pooled_mat();
    format.decode(bytes,
                  {.region = {0, 0, size.width, size.height}, .background = Background{{gray, gray, gray}}},
                  3, out);
    return out;
  };
  return cv::norm(onto(0), onto(255), cv::NORM_INF) > 0;
}

}  // namespace tpack
