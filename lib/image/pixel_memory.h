#pragma once

#include <opencv2/core/mat.hpp>

namespace tpack {

/// An empty matrix that allocates pixels from a free list of its thread, so that images do not use the heap
/// each time. Blocks may be freed by another thread. Also turns off the threads of OpenCV: samples run in
/// parallel instead.
cv::Mat pooled_mat();
cv::Mat pooled_mat(int rows, int cols, int type);

}  // namespace tpack
