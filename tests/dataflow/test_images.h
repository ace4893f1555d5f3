#pragma once

#include <cstdint>
#include <vector>

#include <opencv2/core.hpp>

namespace tpack {

/// RGB pixels with smooth colors and some edges, like a photograph.
cv::Mat photo(int width, int height);
std::vector<uint8_t> encode_jpeg(const cv::Mat& pixels, int quality = 95);
std::vector<uint8_t> encode_png(const cv::Mat& pixels);
/// Pixels of 16 bits.
std::vector<uint8_t> encode_deep_png(const cv::Mat& pixels);
/// The file with an orientation from 1 to 8 in its Exif data; little: in Intel's order of bytes.
std::vector<uint8_t> with_orientation(const std::vector<uint8_t>& file, uint8_t orientation, bool little);
/// Interlaced, in the seven passes of Adam7.
std::vector<uint8_t> encode_interlaced_png(const cv::Mat& pixels);
/// Largest difference in any channel of any pixel.
double largest_difference(const cv::Mat& a, const cv::Mat& b);

}  // namespace tpack
