#pragma once

#include <opencv2/core/mat.hpp>

namespace tpack {

/// An empty matrix whose pixels will come from a free list of the allocating thread, so that processing one
/// image after the other does not use the heap each time. Blocks may be freed by another thread. Also makes
/// OpenCV use no threads of its own: samples run in parallel instead.
cv::Mat pooled_mat();
cv::Mat pooled_mat(int rows, int cols, int type);

}  // namespace tpack
