#pragma once

#include <array>
#include <optional>

#include "predict/predictor.h"

namespace tpack {

/// The values of black and white.
using PixelRange = std::array<double, 2>;

/// Outputs of a model that are images. An image is an output [channels, height, width] with 1 or 3 channels,
/// or one number for each value of the image that the model takes, in this order. Its values are from 0 to 1
/// behind a Sigmoid, from -1 to 1 behind a Tanh, else from 0 to 255.
class OutputImages {
 public:
  /// `inputs`: the model's.
  explicit OutputImages(const std::vector<TowerInput>& inputs);

  bool is_image(const OutputForm& form) const { return shape_of(form).rank() == 3; }
  /// The pixels of one sample's output, which is an image; `range`, if not that of its final function.
  /// Shape: [height, width, channels], float32; 0 to 255, but what is outside of the range.
  Tensor pixels(const OutputForm& form, const Tensor& value, std::optional<PixelRange> range = {}) const;
  /// [channels, height, width]; empty if it is no image.
  Shape shape_of(const OutputForm& form) const;

 private:
  Shape input_ = {};  // [channels, height, width] of the image that the model takes; empty if it takes none
};

}  // namespace tpack
