#pragma once

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <opencv2/core/mat.hpp>

#include "core/field.h"
#include "image/augment/augmentor.h"
#include "tensor/shape.h"

namespace tpack {

/// A color for pixels of 0..255; in a config, one number for all channels, or one for each.
struct Fill {
  std::vector<float> channels = {0};

  /// In the units of these pixels. Errors: DataError if they have another number of channels.
  cv::Scalar scalar(const cv::Mat& m) const;
  /// Errors: ConfigError if images [height, width, channels] have another number of channels.
  void check(const Shape& images) const;
};
template <>
struct Codec<Fill> {
  static FieldType type() {
    return FieldType::either({FieldType::number(), FieldType::list_of(FieldType::number())},
                             "a number or a list of one number per channel");
  }
  static std::optional<Fill> parse(const ConfigNode& node, Reader& reader);
  static ConfigNode dump(const Fill& fill);
};

/// Fills a rectangle, which is inside of the image. Masks stay.
std::unique_ptr<Transform> make_erase(const cv::Rect& rectangle, const Fill& fill);

/// The fill outside of an image: a color, or `edge` or `reflect` in a config.
struct Border {
  enum class Kind : uint8_t { kFill, kEdge, kReflect };
  Kind kind = Kind::kEdge;
  Fill fill = {};

  static Border of(const Fill& fill) { return {Kind::kFill, fill}; }
};
template <>
struct EnumNames<Border::Kind> {
  static constexpr std::array<std::pair<const char*, Border::Kind>, 2> kNames = {
      {{"edge", Border::Kind::kEdge}, {"reflect", Border::Kind::kReflect}}};
};
template <>
struct Codec<Border> {
  static FieldType type() {
    return FieldType::either({Codec<Border::Kind>::type(), Codec<Fill>::type()},
                             "edge, reflect, a number or a list of one number per channel");
  }
  static std::optional<Border> parse(const ConfigNode& node, Reader& reader);
  static ConfigNode dump(const Border& border);
};
inline constexpr const char* kBorderText =
    "fills pixels outside of the image: edge repeats its edges, reflect mirrors it; or a color, as one "
    "number for all channels or one per channel";

/// A RandomAugmentor whose parameters have a `border`.
template <class P>
class BorderedAugmentor : public RandomAugmentor {
 public:
  explicit BorderedAugmentor(P p) : p_(std::move(p)) {}
  Shape shape(const Shape& in) const final {
    p_.border.fill.check(in);
    return in;
  }

 protected:
  P p_;
};

}  // namespace tpack
