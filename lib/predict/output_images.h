#pragma once

#include <span>

#include "predict/predictor.h"

namespace tpack {

/// Outputs of a model that are images. An image is an output [channels, height, width] with 1 or 3 channels,
/// or one number for each value of the image that the model takes, in this order.
class OutputImages {
 public:
  /// `inputs`: the model's.
  explicit OutputImages(const std::vector<TowerInput>& inputs);

  bool is_image(const OutputForm& form) const { return shape_of(form).rank() == 3; }
  /// The pixels of one sample's output, which is an image. Shape: [height, width, channels], float32; 0 to
  /// 255, except for values outside of the range.
  Tensor pixels(const OutputForm& form, const Tensor& value, const PixelRange& range) const;
  /// [channels, height, width]; empty if it is not an image.
  Shape shape_of(const OutputForm& form) const;

 private:
  Shape input_ = {};  // [channels, height, width] of the model's image input; empty if it has none
};

/// The range of what an output means; of mere numbers, the one of [0, 1], [-1, 1], [0, 255] and [0, 65535]
/// that the values of some samples fit. They may be somewhat outside, as those of a network that learns
/// pixels are.
bool has_own_range(OutputMeaning meaning);
PixelRange likely_range(OutputMeaning meaning, std::span<const Tensor> values);
/// "[0, 255]".
std::string str(const PixelRange& range);

}  // namespace tpack
