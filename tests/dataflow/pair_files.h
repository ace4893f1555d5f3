#pragma once

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <opencv2/core.hpp>

#include "config/yaml_reader.h"
#include "dataflow/flow_helpers.h"
#include "dataflow/test_images.h"

namespace tpack {

inline std::vector<uint8_t> gray_png(const std::vector<uint8_t>& values, int width) {
  cv::Mat pixels(static_cast<int>(values.size()) / width, width, CV_8UC1);
  std::copy(values.begin(), values.end(), pixels.data);
  return encode_png(pixels);
}

/// A picture of 3x2 pixels with a mask.
class ImagePairsTest : public testing::Test {
 protected:
  void write(const std::string& stem, const std::vector<uint8_t>& mask) const {
    folder_.write("image/" + stem + ".jpg", encode_jpeg(photo(3, 2)));
    folder_.write("mask/" + stem + ".png", gray_png(mask, 3));
  }
  std::string source(const std::string& more = "") const {
    return "{images: " + folder_.path("image") + ", masks: " + folder_.path("mask") + ", shuffle: false" +
           more + "}";
  }
  /// The mask of the first image.
  std::vector<int> mask(const std::string& more = "", const std::string& maps = "") const {
    const DataFlow flow = flow_of("[{ImagePairs: " + source(more) + "}" + maps + "]");
    Datapoint d;
    EXPECT_TRUE(flow.open({})->next(d));
    const auto values = d.tensor(1).span<uint8_t>();
    return {values.begin(), values.end()};
  }
  std::string error(const std::string& more = "") const {
    try {
      mask(more);
    } catch (const Error& error) {
      return error.what();
    }
    return "no error";
  }
  void write_mask(const std::string& name, const std::string& bytes) const {
    folder_.write("mask/" + name, {bytes.begin(), bytes.end()});
  }
  static DataFlow flow_of(const std::string& yaml) { return make_flow(parse_yaml(yaml, "flow.yaml")); }

  TempFolder folder_;
};

}  // namespace tpack
