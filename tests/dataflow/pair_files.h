#pragma once

#include <string>
#include <vector>

#include <gmock/gmock-matchers.h>
#include <opencv2/core.hpp>

#include "dataflow/flow_helpers.h"
#include "dataflow/test_images.h"

namespace tpack {

inline Bytes gray_png(const Bytes& values, int width) {
  cv::Mat pixels(static_cast<int>(values.size()) / width, width, CV_8UC1);
  std::copy(values.begin(), values.end(), pixels.data);
  return encode_png(pixels);
}

/// The bytes of the second component of each sample.
inline std::vector<std::vector<int>> second_components(const DataFlow& flow) {
  std::vector<std::vector<int>> all;
  const auto cursor = flow.open({});
  for (Datapoint d; cursor->next(d);) {
    const auto values = d.tensor(1).span<uint8_t>();
    all.emplace_back(values.begin(), values.end());
  }
  return all;
}

/// A picture of 3x2 pixels with a mask.
class ImagePairsTest : public testing::Test {
 protected:
  void write(const std::string& stem, const Bytes& mask) const {
    folder_.write("image/" + stem + ".jpg", encode_jpeg(photo(3, 2)));
    folder_.write("mask/" + stem + ".png", gray_png(mask, 3));
  }
  std::string source(const std::string& more = "") const {
    return "{images: image, masks: mask, shuffle: false" + more + "}";
  }
  /// The mask of the first image.
  std::vector<int> mask(const std::string& more = "", const std::string& maps = "") const {
    return second_components(folder_.flow("[{ImagePairs: " + source(more) + "}" + maps + "]")).at(0);
  }
  std::string error(const std::string& more = "") const {
    return error_of([&] { mask(more); });
  }
  void write_mask(const std::string& name, const std::string& bytes) const {
    folder_.write_text("mask/" + name, bytes);
  }

  TempFolder folder_;
};

}  // namespace tpack
