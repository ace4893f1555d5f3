#pragma once

#include <cstdint>
#include <string>

#include "dataflow/data_flow.h"

namespace tpack {

/// "003-T-shirt_top.png", or "003.png" without a label. A label may hold what a file name may not.
std::string sample_file_name(int64_t number, std::string label);

/// Pixels of 0..65535 of depth 16, or from the least to the largest value of floats, as those of 0..255,
/// float32.
Tensor in_bytes(const Tensor& pixels, Depth depth);

/// Writes the image of each of the first `count` samples of a flow to FOLDER/NUMBER-LABEL.png (NUMBER.png
/// where they have no label). Batches are unpacked. Errors: ConfigError if the flow has no image;
/// DataError, ResourceError of reading and writing.
void write_sample_images(const DataFlow& flow, const std::string& folder, int count, uint64_t seed);

}  // namespace tpack
