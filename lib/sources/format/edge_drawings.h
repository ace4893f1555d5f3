#pragma once

#include <cstdint>
#include <span>

#include <opencv2/core.hpp>

namespace tpack {

/// Edges that several people drew in an image: for each pixel, the share of the people who drew an edge
/// there, float32. The file is a MAT file of BSDS500: a cell array groundTruth of structs with Boundaries
/// [height, width]. Errors: DataError with the content of the file.
cv::Mat read_edge_shares(std::span<const uint8_t> bytes);

}  // namespace tpack
