#include "data_tools/sample_images.h"

#include <algorithm>
#include <array>
#include <cinttypes>
#include <cstdio>
#include <filesystem>
#include <limits>

#include "dataflow/datapoint.h"
#include "draw/png.h"
#include "image/frames.h"
#include "system/file_io.h"

namespace tpack {
namespace {

/// The first integer component with one number per sample.
std::optional<size_t> label_column(const Spec& spec, bool batched) {
  for (size_t c = 0; c < spec.size(); ++c) {
    const TensorSpec& tensor = spec[c].tensor;
    if (tensor.dtype == DType::kInt32 && tensor.shape.rank() == (batched ? 1U : 0U)) return c;
  }
  return std::nullopt;
}

}  // namespace

Tensor in_bytes(const Tensor& pixels, Depth depth) {
  const auto values = pixels.span<float>();
  float black = 0;
  float white = 65535;
  if (depth == Depth::kFloat && !values.empty()) {
    const auto [least, most] = std::minmax_element(values.begin(), values.end());
    black = *least;
    white = std::max(*most, black + std::numeric_limits<float>::min());
  }
  Tensor out(DType::kFloat32, pixels.shape());
  std::transform(values.begin(), values.end(), out.data<float>(),
                 [&](float value) { return 255 * (value - black) / (white - black); });
  return out;
}

std::string sample_file_name(int64_t number, std::string label) {
  std::array<char, 24> text{};
  std::snprintf(text.data(), text.size(), "%03" PRId64, number);
  const auto is_bad = [](unsigned char c) { return c == '/' || c < 0x20 || c == 0x7F; };
  std::replace_if(label.begin(), label.end(), is_bad, '_');
  return std::string(text.data()) + (label.empty() ? "" : "-" + label) + ".png";
}

void write_sample_images(const DataFlow& flow, const std::string& folder, int count, uint64_t seed) {
  const Spec& spec = flow.spec();
  const bool batched = flow.batch_size().has_value();
  const auto image =
      std::find_if(spec.begin(), spec.end(), [](const ComponentSpec& c) { return c.is_image; });
  if (image == spec.end()) throw ConfigError("--images: the flow has no image (it has " + spec.str() + ")");
  const auto column = static_cast<size_t>(image - spec.begin());
  const auto label = label_column(spec, batched);
  std::error_code failure;
  std::filesystem::create_directories(folder, failure);
  if (failure) throw ResourceError(folder + ": cannot be created: " + failure.message());
  const auto cursor = flow.open({.seed = seed});
  Datapoint item;
  for (int written = 0; written < count && cursor->next(item);) {
    const Tensor images = item.to_tensor(column);
    const int64_t rows = batched ? images.shape()[0] : 1;
    for (int64_t row = 0; row < rows && written < count; ++row, ++written) {
      const std::string name =
          label ? spec[*label].class_name(static_cast<int64_t>(item.to_tensor(*label).at(batched ? row : 0)))
                : "";
      const Tensor one = first_frame(batched ? images.row(row) : images, image->frames);
      const auto png = encode_png(image->depth == Depth::k8 ? one : in_bytes(one, image->depth));
      write_whole_file(folder + "/" + sample_file_name(written, name), png.at(0).png);
    }
  }
}

}  // namespace tpack
