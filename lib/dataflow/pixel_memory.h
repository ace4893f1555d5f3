#pragma once

#include <opencv2/core/mat.hpp>

namespace tpack {

/// An empty matrix whose pixels will come from a free list of the thread that asks for them, so that work on
/// one image after the other does not go to the heap for each. Blocks may be given back by another thread.
/// Also makes OpenCV use no threads of its own: samples are what runs in parallel here.
cv::Mat pooled_mat();
cv::Mat pooled_mat(int rows, int cols, int type);

}  // namespace tpack
