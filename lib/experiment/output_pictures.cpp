#include "experiment/output_pictures.h"

#include <algorithm>
#include <filesystem>

#include "core/file_io.h"
#include "core/text.h"
#include "draw/png.h"
#include "experiment/sample_images.h"

namespace tpack {
namespace {

bool has_image_channels(const Shape& shape) {
  return shape.rank() == 3 && (shape[0] == 1 || shape[0] == 3) && shape.elements() > 0;
}

/// To 0..255.
float brightness(double value, FinalFunction function) {
  if (function == FinalFunction::kSigmoid) return static_cast<float>(255 * value);
  return static_cast<float>(function == FinalFunction::kTanh ? 127.5 * (value + 1) : value);
}

}  // namespace

OutputPictures::OutputPictures(const std::vector<TowerInput>& inputs) {
  for (const TowerInput& input : inputs) {
    if (input.layout.empty() || input_.rank() > 0) continue;
    const Shape& s = input.spec.shape;
    input_ = input.layout == "HWC" ? Shape{s[2], s[0], s[1]} : s;
  }
}

Shape OutputPictures::picture_shape(const OutputForm& form) const {
  const Shape& shape = form.spec.shape;
  if (has_image_channels(shape)) return shape;
  const bool is_like_input = shape.rank() == 1 && has_image_channels(input_) && shape[0] == input_.elements();
  return is_like_input ? input_ : Shape{};
}

bool OutputPictures::is_picture(const OutputForm& form) const { return picture_shape(form).rank() == 3; }

std::string OutputPictures::write(const std::string& folder, int64_t number, const std::string& file,
                                  const std::string& output, const OutputForm& form,
                                  const Tensor& value) const {
  const Shape shape = picture_shape(form);
  const int64_t channels = shape[0];
  const int64_t pixels = shape[1] * shape[2];
  Tensor picture(DType::kFloat32, {shape[1], shape[2], channels});
  float* out = picture.data<float>();
  for (int64_t p = 0; p < pixels; ++p) {
    for (int64_t c = 0; c < channels; ++c) *out++ = brightness(value.at(c * pixels + p), form.function);
  }
  const std::string stem = std::filesystem::path(file).stem().string();
  const std::string path = folder + "/" + sample_file_name(number, stem + "-" + output);
  write_whole_file(path, encode_png(picture).at(0).png);
  return path;
}

}  // namespace tpack
