#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "core/field.h"
#include "tensor/shape.h"

namespace tpack {

/// Height and width of something; in YAML one number for both, or a list [height, width].
struct Size2 {
  int64_t h = 1;
  int64_t w = 1;
  constexpr Size2() = default;
  constexpr Size2(int64_t both) : h(both), w(both) {}  // NOLINT(google-explicit-constructor): .kernel = 3
  constexpr Size2(int64_t height, int64_t width) : h(height), w(width) {}
  bool operator==(const Size2&) const = default;
};

/// From the shape of images [N, C, H, W], or of kernels [O, I, H, W].
inline Size2 image_of(const Shape& shape) { return {shape[2], shape[3]}; }

/// Zero rows and columns added around an image.
struct Padding2 {
  int64_t top = 0;
  int64_t left = 0;
  int64_t bottom = 0;
  int64_t right = 0;
  bool operator==(const Padding2&) const = default;
};

/// The geometry of a window that moves over an image, for convolution and pooling.
struct Window {
  Size2 size;
  Size2 stride;
  Size2 dilation;
  Padding2 padding;

  /// Size of the output for an input of `in`. Errors: ShapeError if the window does not fit.
  Size2 output(Size2 in) const;
};

/// "same": output ceil(in / stride), zeros split evenly with the odd one at the bottom and right
/// (TensorFlow's rule). "valid": no padding.
enum class PaddingRule : uint8_t { kSame, kValid };

/// A rule, or explicit numbers of zeros. In YAML `same`, `valid`, a number for all sides, [height, width] or
/// [[top, bottom], [left, right]].
struct PaddingSetting {
  PaddingRule rule = PaddingRule::kSame;
  std::optional<Padding2> sides = {};  // instead of the rule

  PaddingSetting(PaddingRule r) : rule(r) {}            // NOLINT(google-explicit-constructor)
  PaddingSetting(Padding2 padding) : sides(padding) {}  // NOLINT(google-explicit-constructor)
};
Padding2 padding_for(const PaddingSetting& setting, Size2 in, Size2 size, Size2 stride, Size2 dilation);

/// The description of such a field, with the meaning of the rules there.
std::string padding_doc(const std::string& rules);

template <>
struct EnumNames<PaddingRule> {
  static constexpr std::array<std::pair<const char*, PaddingRule>, 2> kNames = {
      {{"same", PaddingRule::kSame}, {"valid", PaddingRule::kValid}}};
};

template <>
struct Codec<Size2> {
  static FieldType type() {
    return FieldType::either({FieldType::integer(), FieldType::list_of(FieldType::integer())},
                             "an integer or a list [height, width]");
  }
  static std::optional<Size2> parse(const ConfigNode& node, Reader& reader);
  static ConfigNode dump(const Size2& size);
};

template <>
struct Codec<PaddingSetting> {
  static FieldType type();
  static std::optional<PaddingSetting> parse(const ConfigNode& node, Reader& reader);
  static ConfigNode dump(const PaddingSetting& setting);
};

template <>
struct Codec<Padding2> {
  static FieldType type() {
    return FieldType::either({FieldType::list_of(FieldType::integer())}, "a list [top, left, bottom, right]");
  }
  static std::optional<Padding2> parse(const ConfigNode& node, Reader& reader);
  static ConfigNode dump(const Padding2& padding);
};

}  // namespace tpack
