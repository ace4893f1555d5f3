#pragma once

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <string>

#include "core/rng.h"
#include "draw/png.h"
#include "support/temporary_folder.h"
#include "tensor/tensor.h"

namespace tpack {

/// A picture of soft waves, another one for each seed. uint8 [height, width, 3].
inline Tensor waves(uint64_t seed, int64_t height = 48, int64_t width = 64, double contrast = 1,
                    double brightness = 0) {
  Rng rng(seed);
  double x[12][4];
  for (auto& wave : x)
    for (double& number : wave) number = rng.uniform(-1, 1);
  Tensor out(DType::kUInt8, {height, width, 3});
  for (int64_t row = 0; row < height; ++row) {
    for (int64_t column = 0; column < width; ++column) {
      double value = 0;
      for (const auto& wave : x)
        value += wave[0] * std::sin(12 * wave[1] * static_cast<double>(row) / static_cast<double>(height) +
                                    12 * wave[2] * static_cast<double>(column) / static_cast<double>(width) +
                                    9 * wave[3]);
      for (int64_t c = 0; c < 3; ++c)
        out.data<uint8_t>()[(row * width + column) * 3 + c] = static_cast<uint8_t>(
            std::clamp(128 + brightness + 20 * contrast * value + 5 * static_cast<double>(c), 0.0, 255.0));
    }
  }
  return out;
}

inline Tensor blank(uint8_t gray, int64_t height = 48, int64_t width = 64) {
  Tensor out(DType::kUInt8, {height, width, 3});
  std::fill_n(out.data<uint8_t>(), out.elements(), gray);
  return out;
}

/// Writes FOLDER/name, with the folders that it needs.
inline void write_picture_file(const TemporaryFolder& folder, const std::string& name,
                               const Tensor& picture) {
  std::filesystem::create_directories(std::filesystem::path(folder / name).parent_path());
  write_content(folder / name, encode_png(picture).at(0).png);
}

}  // namespace tpack
