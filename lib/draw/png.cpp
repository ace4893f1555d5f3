#include "draw/png.h"

#include <algorithm>
#include <cmath>

#include <png.h>

#include "core/error.h"

namespace tpack {
namespace {

/// [N, H, W, C] of any legal shape.
Shape batch_shape(const TensorSpec& spec) {
  const Shape& given = spec.shape;
  const auto wrong = [&spec] {
    return ShapeError(
        "expected an image [H, W], [H, W, C] or [N, H, W, C] with 1, 3 or 4 channels, uint8 or float32, "
        "found " +
        spec.str());
  };
  if (given.rank() < 2 || given.rank() > 4) throw wrong();
  const Shape with_channels = given.rank() == 2 ? Shape{given[0], given[1], 1} : given;
  const Shape batch = with_channels.rank() == 3 ? with_channels.prepend(1) : with_channels;
  const int64_t channels = batch[-1];
  const bool type = spec.dtype == DType::kUInt8 || spec.dtype == DType::kFloat32;
  if (!type || (channels != 1 && channels != 3 && channels != 4) || batch.elements() == 0) throw wrong();
  return batch;
}

Tensor as_bytes(const Tensor& pictures) {
  if (pictures.dtype() == DType::kUInt8) return pictures;
  Tensor bytes(DType::kUInt8, pictures.shape());
  const auto in = pictures.span<float>();
  std::transform(in.begin(), in.end(), bytes.data<uint8_t>(), [](float value) {
    return static_cast<uint8_t>(std::lround(std::clamp(std::isnan(value) ? 0.0F : value, 0.0F, 255.0F)));
  });
  return bytes;
}

uint32_t png_format(int64_t channels) {
  if (channels == 1) return PNG_FORMAT_GRAY;
  return channels == 3 ? PNG_FORMAT_RGB : PNG_FORMAT_RGBA;
}

PngImage encode_one(const Tensor& picture) {
  const Shape& shape = picture.shape();
  png_image header{};
  header.version = PNG_IMAGE_VERSION;
  header.height = static_cast<png_uint_32>(shape[0]);
  header.width = static_cast<png_uint_32>(shape[1]);
  header.format = png_format(shape[2]);
  png_alloc_size_t bytes = PNG_IMAGE_PNG_SIZE_MAX(header);
  PngImage out{shape[0], shape[1], shape[2], std::string(bytes, '\0')};
  if (png_image_write_to_memory(&header, out.png.data(), &bytes, 0, picture.raw(), 0, nullptr) == 0) {
    throw ResourceError(std::string("an image cannot be encoded as PNG: ") + header.message);
  }
  out.png.resize(bytes);
  return out;
}

}  // namespace

/// Source: the development kit of PASCAL VOC 2012, VOCcolormap: the bits of the number, three at a time, are
/// the upper bits of red, green and blue.
std::vector<RgbColor> class_colors(size_t classes) {
  std::vector<RgbColor> colors(std::min<size_t>(classes, 256));
  for (size_t c = 0; c < colors.size(); ++c) {
    for (size_t bit = 0; bit < 8; ++bit)
      colors[c].at(bit % 3) |= static_cast<uint8_t>((c >> bit & 1U) << (7 - bit / 3));
  }
  return colors;
}

std::string encode_palette_png(const Tensor& places, std::span<const RgbColor> palette) {
  png_image header{};
  header.version = PNG_IMAGE_VERSION;
  header.height = static_cast<png_uint_32>(places.shape()[0]);
  header.width = static_cast<png_uint_32>(places.shape()[1]);
  header.format = PNG_FORMAT_RGB_COLORMAP;
  header.colormap_entries = static_cast<png_uint_32>(palette.size());
  png_alloc_size_t bytes = PNG_IMAGE_PNG_SIZE_MAX(header);
  std::string png(bytes, '\0');
  if (png_image_write_to_memory(&header, png.data(), &bytes, 0, places.raw(), 0, palette.data()) == 0)
    throw ResourceError(std::string("a mask cannot be encoded as PNG: ") + header.message);
  png.resize(bytes);
  return png;
}

std::vector<PngImage> encode_png(const Tensor& pictures) {
  const Shape shape = batch_shape(pictures.spec());
  const Tensor batch = as_bytes(pictures).reshaped(shape);
  std::vector<PngImage> all;
  for (int64_t i = 0; i < batch.shape()[0]; ++i) all.push_back(encode_one(batch.row(i)));
  return all;
}

}  // namespace tpack
