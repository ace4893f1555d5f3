#include "image/frames.h"

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include <opencv2/core.hpp>

#include "image/pixel_memory.h"

namespace tpack {

cv::Mat stacked_frames(std::span<const cv::Mat> frames) {
  cv::Mat out = pooled_mat();
  cv::merge(frames.data(), frames.size(), out);
  return out;
}

void change_frames(cv::Mat& pixels, int channels, const std::function<void(cv::Mat&)>& change) {
  std::vector<cv::Mat> frames;
  for (int first = 0; first < pixels.channels(); first += channels) {
    cv::Mat frame = pooled_mat(pixels.rows, pixels.cols, CV_MAKETYPE(pixels.depth(), channels));
    std::vector<int> pairs;
    for (int c = 0; c < channels; ++c) pairs.insert(pairs.end(), {first + c, c});
    cv::mixChannels(&pixels, 1, &frame, 1, pairs.data(), static_cast<size_t>(channels));
    change(frame);
    frames.push_back(std::move(frame));
  }
  pixels = stacked_frames(frames);
}

Tensor first_frame(const Tensor& image, int frames) {
  if (frames == 1) return image;
  const Shape& shape = image.shape();
  Tensor out(image.dtype(), shape.with(2, shape[2] / frames));
  const auto pixels = static_cast<size_t>(shape[0] * shape[1]);
  const size_t taken = out.bytes() / std::max<size_t>(pixels, 1);
  for (size_t i = 0; i < pixels; ++i)
    std::memcpy(out.raw() + i * taken, image.raw() + i * taken * static_cast<size_t>(frames), taken);
  return out;
}

}  // namespace tpack
