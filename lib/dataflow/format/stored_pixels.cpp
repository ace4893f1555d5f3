#include "dataflow/format/stored_pixels.h"

#include <opencv2/imgproc.hpp>

#include "dataflow/pixel_memory.h"

namespace tpack {
namespace {

/// The upper 8 of 16 bits, as decode_png keeps them.
cv::Mat upper_bits(const cv::Mat& deep) {
  cv::Mat out = pooled_mat(deep.rows, deep.cols, CV_8UC(deep.channels()));
  const int values = deep.cols * deep.channels();
  for (int y = 0; y < deep.rows; ++y) {
    const auto* from = deep.ptr<uint16_t>(y);
    uint8_t* to = out.ptr(y);
    for (int i = 0; i < values; ++i) to[i] = static_cast<uint8_t>(from[i] >> 8U);
  }
  return out;
}

cv::Mat in_depth(const cv::Mat& stored, Depth depth) {
  const int wanted = depth == Depth::k8 ? CV_8U : depth == Depth::k16 ? CV_16U : CV_32F;
  if (stored.depth() == wanted) return stored;
  if (depth == Depth::k8) return upper_bits(stored);
  cv::Mat out = pooled_mat();
  stored.convertTo(out, wanted, depth == Depth::k16 ? 257 : 1);  // white is 65535
  return out;
}

}  // namespace

Box give_pixels(const cv::Mat& stored, int channels, Depth depth, cv::Mat& out) {
  const cv::Mat pixels = in_depth(stored, depth);
  if (pixels.channels() == channels) {
    out = pixels;
  } else {
    cv::cvtColor(pixels, out, channels == 1 ? cv::COLOR_RGB2GRAY : cv::COLOR_GRAY2RGB);
  }
  return {0, 0, static_cast<double>(out.cols), static_cast<double>(out.rows)};
}

}  // namespace tpack
