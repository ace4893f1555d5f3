#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <opencv2/core.hpp>

#include "image/image.h"

/// The files of tests/golden/images.json.
namespace tpack {

/// A file with what Pillow reads from it.
struct GoldenImage {
  std::string name;
  std::vector<uint8_t> file;
  cv::Mat rgb;
  cv::Mat deep;  // 16 bits, if the file has them
  cv::Mat rgba;  // if the file has transparency
  cv::Mat onto;  // on golden_background, if that matters
  double off_by = 0;
};

const std::vector<GoldenImage>& golden_images();
Background golden_background();
const GoldenImage& golden_image(const std::string& name);

/// A TIFF whose pixels are numbers.
struct GoldenNumbers {
  std::string name;
  std::vector<uint8_t> file;
  cv::Mat values;  // float32
};

const std::vector<GoldenNumbers>& golden_numbers();

/// A file of several frames.
struct GoldenClip {
  std::string name;
  std::vector<uint8_t> file;
  std::vector<cv::Mat> frames;
  std::vector<cv::Mat> rgba = {};
  std::vector<cv::Mat> onto = {};
};

const std::vector<GoldenClip>& golden_clips();

/// Mutations of a file give an image of the size in their header, or a DataError. `read` reads the i-th one.
void mutate(const std::vector<uint8_t>& original,
            const std::function<cv::Mat(const std::vector<uint8_t>&, const Region&, int64_t)>& read,
            int64_t rounds = 300);

}  // namespace tpack
