#include "predict/output_images.h"

#include <algorithm>

#include "core/text.h"

namespace tpack {
namespace {

bool has_image_channels(const Shape& shape) {
  return shape.rank() == 3 && (shape[0] == 1 || shape[0] == 3) && shape.elements() > 0;
}

}  // namespace

OutputImages::OutputImages(const std::vector<TowerInput>& inputs) {
  for (const TowerInput& input : inputs) {
    if (input.layout.empty() || input_.rank() > 0) continue;
    const Shape& s = input.spec.shape;
    input_ = input.layout == "HWC" ? Shape{s[2], s[0], s[1]} : s;
  }
}

Shape OutputImages::shape_of(const OutputForm& form) const {
  const Shape& shape = form.spec.shape;
  if (has_image_channels(shape)) return shape;
  const bool is_like_input = shape.rank() == 1 && has_image_channels(input_) && shape[0] == input_.elements();
  return is_like_input ? input_ : Shape{};
}

Tensor OutputImages::pixels(const OutputForm& form, const Tensor& value, const PixelRange& range) const {
  const auto [black, white] = range;
  const Shape shape = shape_of(form);
  const int64_t channels = shape[0];
  const int64_t count = shape[1] * shape[2];
  Tensor image(DType::kFloat32, {shape[1], shape[2], channels});
  auto* out = image.data<float>();
  for (int64_t p = 0; p < count; ++p) {
    for (int64_t c = 0; c < channels; ++c)
      *out++ = static_cast<float>((value.at(c * count + p) - black) * 255 / (white - black));
  }
  return image;
}

PixelRange likely_range(OutputMeaning meaning, std::span<const Tensor> values) {
  if (meaning.has_range()) return {meaning.least, meaning.most};
  double least = 0;
  double most = 0;
  for (const Tensor& value : values) {
    for (int64_t i = 0; i < value.elements(); ++i) {
      least = std::min(least, value.at(i));
      most = std::max(most, value.at(i));
    }
  }
  // Wide of the ranges themselves, so that which one it is does not depend on the samples.
  constexpr double kFewUnits = 4;
  constexpr double kFewBytes = 4 * 255;
  if (most > kFewBytes) return {0, 65535};
  if (most > kFewUnits || least < -kFewUnits) return {0, 255};
  return least < -0.5 ? PixelRange{-1, 1} : PixelRange{0, 1};
}

std::string str(const PixelRange& range) {
  return "[" + shortest(range[0]) + ", " + shortest(range[1]) + "]";
}

}  // namespace tpack
