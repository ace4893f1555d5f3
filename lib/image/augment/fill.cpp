#include "image/augment/fill.h"

#include <string>
#include <utility>

#include <opencv2/core.hpp>

#include "core/error.h"

namespace tpack {
namespace {

std::string wrong_channels(size_t given, int64_t channels) {
  return "the color has " + std::to_string(given) + " numbers, but images have " + std::to_string(channels) +
         (channels == 1 ? " channel" : " channels") + "; write one number, or one per channel";
}

class Erase final : public Transform {
 public:
  Erase(const cv::Rect& rectangle, Fill fill) : rectangle_(rectangle), fill_(std::move(fill)) {}
  void image(cv::Mat& m) const override { m(rectangle_).setTo(fill_.scalar(m)); }

 private:
  cv::Rect rectangle_;
  Fill fill_;
};

}  // namespace

std::unique_ptr<Transform> make_erase(const cv::Rect& rectangle, const Fill& fill) {
  return std::make_unique<Erase>(rectangle, fill);
}

cv::Scalar Fill::scalar(const cv::Mat& m) const {
  const double unit = pixel_unit(m);
  if (channels.size() == 1) return cv::Scalar::all(channels[0] * unit);
  if (channels.size() != static_cast<size_t>(m.channels()))
    throw DataError(wrong_channels(channels.size(), m.channels()));
  cv::Scalar all;
  for (int c = 0; c < m.channels(); ++c) all[c] = channels[static_cast<size_t>(c)] * unit;
  return all;
}

void Fill::check(const Shape& images) const {
  if (channels.size() == 1 || images[2] == Shape::kUnknown) return;
  if (static_cast<int64_t>(channels.size()) != images[2])
    throw ConfigError(wrong_channels(channels.size(), images[2]));
}

std::optional<Fill> Codec<Fill>::parse(const ConfigNode& node, Reader& reader) {
  const auto given = node.is_list() ? std::vector<ConfigNode>(node.items().begin(), node.items().end())
                                    : std::vector<ConfigNode>{node};
  if (given.empty() || given.size() > 4) {
    reader.wrong_type(node, "a number, or a list of 1 to 4 numbers");
    return std::nullopt;
  }
  Fill fill{{}};
  for (const ConfigNode& one : given) {
    const auto value = Codec<float>::parse(one, reader);
    if (!value) return std::nullopt;
    fill.channels.push_back(*value);
  }
  return fill;
}

ConfigNode Codec<Fill>::dump(const Fill& fill) {
  return fill.channels.size() == 1 ? Codec<float>::dump(fill.channels[0])
                                   : Codec<std::vector<float>>::dump(fill.channels);
}

std::optional<Border> Codec<Border>::parse(const ConfigNode& node, Reader& reader) {
  if (node.kind() == ConfigNode::Kind::kString) {
    const auto kind = Codec<Border::Kind>::parse(node, reader);
    return kind ? std::optional(Border{*kind, {}}) : std::nullopt;
  }
  auto fill = Codec<Fill>::parse(node, reader);
  return fill ? std::optional(Border::of(*fill)) : std::nullopt;
}

ConfigNode Codec<Border>::dump(const Border& border) {
  return border.kind == Border::Kind::kFill ? Codec<Fill>::dump(border.fill)
                                            : Codec<Border::Kind>::dump(border.kind);
}

}  // namespace tpack
