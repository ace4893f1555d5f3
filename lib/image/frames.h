#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include <opencv2/core/mat.hpp>

#include "tensor/tensor.h"

/// Images of several frames: the channels of the first one, then those of the second one, and so on. Few
/// functions of OpenCV take more than 4 channels, so they get one frame at a time.
namespace tpack {

/// The index, among the `stored` frames of a file, of frame `i` of `wanted` evenly spaced ones.
constexpr int64_t frame_at(int64_t i, int64_t wanted, int64_t stored) { return i * stored / wanted; }

/// One matrix with the channels of all frames, which must have the same size and type.
cv::Mat stacked_frames(std::span<const cv::Mat> frames);
/// Calls `change` for each frame of `channels` channels, and makes an image of the results, which must have
/// the same size and type.
void change_frames(cv::Mat& pixels, int channels, const std::function<void(cv::Mat&)>& change);
/// The first frame of an image [height, width, channels] with `frames` frames.
Tensor first_frame(const Tensor& image, int frames);

}  // namespace tpack
