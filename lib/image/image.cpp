#include "image/image.h"

#include <algorithm>

#include <opencv2/core/mat.hpp>

#include "core/error.h"
#include "image/format/image_codec.h"
#include "image/format/image_formats.h"
#include "image/pixel_memory.h"

namespace tpack {
namespace {

/// Runs `act` and adds the file name to its data errors.
template <class Act>
void with_origin(const std::string& origin, Act&& act) {
  try {
    act();
  } catch (const DataError& error) {
    if (origin.empty()) throw;
    throw FileError(origin, error.what());
  }
}

}  // namespace

bool is_image_file(std::string_view path) { return image_format_of_name(path) != nullptr; }

bool is_hidden(std::string_view name) { return name.starts_with('.') || name == "__MACOSX"; }

std::string ImageSize::str() const { return std::to_string(width) + "x" + std::to_string(height); }

std::optional<Depth> Codec<Depth>::parse(const ConfigNode& node, Reader& reader) {
  if (node.is_string() && node.text() == "float") return Depth::kFloat;
  const bool is_integer = node.kind() == ConfigNode::Kind::kInt;
  if (is_integer && node.as_int() == 8) return Depth::k8;
  if (is_integer && node.as_int() == 16) return Depth::k16;
  reader.wrong_type(node, "8, 16 or float");
  return std::nullopt;
}

ConfigNode Codec<Depth>::dump(Depth depth) {
  if (depth == Depth::kFloat) return "float";
  return depth == Depth::k16 ? 16 : 8;
}

std::string Background::str() const {
  if (*this == Background{}) return "white";
  if (*this == Background{{0, 0, 0}}) return "black";
  return "[" + std::to_string(rgb[0]) + ", " + std::to_string(rgb[1]) + ", " + std::to_string(rgb[2]) + "]";
}

std::optional<Background> Codec<Background>::parse(const ConfigNode& node, Reader& reader) {
  const std::vector<ConfigNode> values = node.is_list()
                                             ? std::vector(node.items().begin(), node.items().end())
                                             : std::vector<ConfigNode>(3, node);
  const auto is_value = [](const ConfigNode& value) {
    return value.kind() == ConfigNode::Kind::kInt && value.as_int() >= 0 && value.as_int() <= 255;
  };
  Background background;
  if (values.size() != background.rgb.size() || !std::ranges::all_of(values, is_value)) {
    reader.wrong_type(node, "[red, green, blue] or one number, from 0 to 255");
    return std::nullopt;
  }
  for (size_t i = 0; i < values.size(); ++i) background.rgb.at(i) = static_cast<uint8_t>(values[i].as_int());
  return background;
}

ConfigNode Codec<Background>::dump(const Background& background) {
  const auto& [red, green, blue] = background.rgb;
  return ConfigNode::list({ConfigNode(int64_t{red}), ConfigNode(int64_t{green}), ConfigNode(int64_t{blue})});
}

Image::Image() = default;
Image::Image(Image&&) noexcept = default;
Image& Image::operator=(Image&&) noexcept = default;
Image::~Image() = default;

std::span<uint8_t> Image::encoded_buffer(size_t bytes) {
  if (bytes_.size() < bytes) bytes_.resize(bytes);  // never smaller: to grow again writes zeros
  const std::span<uint8_t> file = std::span(bytes_).first(bytes);
  file_ = file;
  if (pixels_ != nullptr) pixels_->release();
  encoded_ = true;
  return file;
}

void Image::take_encoded(std::vector<uint8_t>& buffer, std::span<const uint8_t> file) {
  std::swap(bytes_, buffer);
  file_ = file;
  if (pixels_ != nullptr) pixels_->release();
  encoded_ = true;
}

void Image::header_known(const ImageForm& form, std::string_view origin) {
  origin_ = origin;
  with_origin(origin_, [&] { size_ = read_image_header(file_, form); });
  channels_ = form.channels();
  form_ = form;
}

size_t Image::bytes() const {
  if (encoded_) return file_.size();
  return pixels_ == nullptr ? 0 : pixels_->total() * pixels_->elemSize();
}

void Image::set_pixels(cv::Mat pixels) {
  const int depth = pixels.depth();
  TPACK_ASSERT((depth == CV_8U || depth == CV_16U || depth == CV_32F) && pixels.dims == 2,
               "pixels have 8 or 16 bits or are float32");
  if (pixels_ == nullptr) pixels_ = std::make_unique<cv::Mat>();
  *pixels_ = std::move(pixels);
  size_ = {pixels_->cols, pixels_->rows};
  channels_ = pixels_->channels();
  encoded_ = false;
}

const cv::Mat& Image::pixels() {
  if (encoded_) decode({.region = {0, 0, size_.width, size_.height}});
  TPACK_ASSERT(pixels_ != nullptr, "an image that was never filled");
  return *pixels_;
}

Box Image::decode(const DecodeRequest& request) {
  TPACK_ASSERT(encoded_, "the image is decoded already");
  cv::Mat out = pooled_mat();
  DecodeRequest of_this = request;
  of_this.depth = form_.depth;
  of_this.frames = form_.frames;
  of_this.background = form_.background;
  of_this.upright = form_.upright;
  Box region;
  with_origin(origin_, [&] { region = decode_image(file_, of_this, channels_of(form_.color), out); });
  set_pixels(std::move(out));
  return region;
}

}  // namespace tpack
