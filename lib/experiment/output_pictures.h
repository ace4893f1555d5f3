#pragma once

#include <string>

#include "predict/predictor.h"

namespace tpack {

/// Outputs of a model that are images, as PNG files. An image is an output [channels, height, width] with 1
/// or 3 channels, or one number for each value of the image that the model takes, in this order. Its values
/// are from 0 to 1 behind a Sigmoid, from -1 to 1 behind a Tanh, else from 0 to 255.
class OutputPictures {
 public:
  /// `inputs`: the model's.
  explicit OutputPictures(const std::vector<TowerInput>& inputs);

  bool is_picture(const OutputForm& form) const;
  /// Writes FOLDER/NUMBER-STEM-OUTPUT.png (with the stem of `file`) and returns its path. Errors:
  /// ResourceError.
  std::string write(const std::string& folder, int64_t number, const std::string& file,
                    const std::string& output, const OutputForm& form, const Tensor& value) const;

 private:
  Shape picture_shape(const OutputForm& form) const;

  Shape input_ = {};  // [channels, height, width] of the image that the model takes; empty if it takes none
};

}  // namespace tpack
