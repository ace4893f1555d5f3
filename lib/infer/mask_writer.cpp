#include "infer/mask_writer.h"

#include <algorithm>
#include <filesystem>

#include <nlohmann/json.hpp>

#include "data_tools/sample_images.h"
#include "dataflow/datapoint.h"
#include "draw/annotation.h"
#include "draw/png.h"
#include "image/contours.h"
#include "image/format/image_formats.h"
#include "sources/image_file.h"
#include "system/file_io.h"
#include "system/mapped_file.h"

namespace tpack {
namespace {

/// The image of a sample, uint8 [H, W, channels] in the size of a mask; null if the model takes none.
const Tensor* image_under(const std::vector<Tensor>& inputs, const Tensor& mask) {
  for (const Tensor& input : inputs) {
    const Shape& shape = input.shape();
    const bool is_image =
        input.dtype() == DType::kUInt8 && shape.rank() == 3 && (shape[2] == 1 || shape[2] == 3);
    if (is_image && shape[0] == mask.shape()[0] && shape[1] == mask.shape()[1]) return &input;
  }
  return nullptr;
}

/// uint8 [H, W, 3]; more than 8 bits are scaled from the smallest value (black) to the largest (white).
Tensor photograph_at(const std::string& path) {
  const bool is_deep = has_more_than_bytes(MappedFile(path).bytes());
  Datapoint file;
  read_image_file(path, {.depth = is_deep ? Depth::kFloat : Depth::k8}, file.renew_image(0));
  const Tensor& pixels = file.to_tensor(0);
  return is_deep ? in_bytes(pixels, Depth::kFloat).cast(DType::kUInt8) : pixels.clone();
}

}  // namespace

std::string write_picture(const std::string& folder, int64_t number, const std::string& file,
                          const std::string& output, const std::string& png) {
  const std::string stem = std::filesystem::path(file).stem().string();
  std::string path = folder + "/" + sample_file_name(number, stem + "-" + output);
  write_whole_file(path, png);
  return path;
}

bool MaskWriter::is_of_probabilities(const OutputForm& form) const {
  return (options_.overlays || options_.contours) && form.meaning.is_probability() &&
         form.spec.shape.rank() == 3 && form.spec.shape[0] == 1;
}

/// Shape: [height, width], uint8; classes above 255 become 255.
Tensor MaskWriter::classes_of(const Tensor& value) const {
  const Shape& shape = value.shape();
  const bool has_numbers = shape.rank() == 2;
  Tensor mask(DType::kUInt8, has_numbers ? shape : Shape{shape[1], shape[2]});
  for (int64_t k = 0; k < mask.elements(); ++k) {
    const double x = value.at(k);
    mask.data<uint8_t>()[k] =
        static_cast<uint8_t>(has_numbers ? std::clamp(x, 0.0, 255.0) : (x >= options_.threshold ? 1 : 0));
  }
  return mask;
}

std::string MaskWriter::write(const Prediction& sample, size_t output, const std::string& name,
                              int64_t number, const std::vector<Tensor>& inputs) {
  Tensor mask = classes_of(sample.outputs[output]);
  const std::vector<RgbColor> colors = class_colors(256);
  const Tensor* image = image_under(inputs, mask);
  Tensor picture;
  if (sample.place) {
    mask = mask_of_picture(mask, *sample.place);
    if (options_.overlays) picture = sample.picture.empty() ? photograph_at(sample.file) : sample.picture;
    image = &picture;
  }
  if (options_.overlays) {
    if (image == nullptr)
      throw ConfigError("--overlays: the model takes no image of uint8 of the size of '" + name + "'");
    write_picture(options_.images, number, sample.file, name + "-overlay",
                  encode_png(overlaid(*image, mask, colors)).at(0).png);
  }
  std::string path =
      write_picture(options_.images, number, sample.file, name, encode_palette_png(mask, colors));
  if (options_.contours)
    write_contours(mask, std::filesystem::path(path).replace_extension(".json").string());
  return path;
}

void MaskWriter::write_contours(const Tensor& mask, const std::string& path) const {
  auto areas = nlohmann::ordered_json::array();
  for (const Contour& one : contours_of(mask)) {
    nlohmann::ordered_json area = {{"class", one.label}};
    if (one.label < std::ssize(labels_)) area["name"] = labels_[static_cast<size_t>(one.label)];
    area["pixels"] = one.pixels;
    area["outline"] = one.outline;
    if (!one.holes.empty()) area["holes"] = one.holes;
    areas.push_back(std::move(area));
  }
  const nlohmann::ordered_json all = {
      {"height", mask.shape()[0]}, {"width", mask.shape()[1]}, {"areas", std::move(areas)}};
  write_whole_file(path, all.dump() + "\n");
}

}  // namespace tpack
