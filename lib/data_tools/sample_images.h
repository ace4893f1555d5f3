#pragma once

#include <cstdint>
#include <string>

#include "dataflow/data_flow.h"

namespace tpack {

/// "003-T-shirt_top.png", or "003.png" without a label. Characters of a label that are not allowed in file
/// names are replaced.
std::string sample_file_name(int64_t number, std::string label);

/// Scales pixels of 0..65535 (depth 16), or floats from their smallest to their largest value, to 0..255,
/// float32.
Tensor in_bytes(const Tensor& pixels, Depth depth);

/// Writes the image of each of the first `count` samples of a flow to FOLDER/NUMBER-LABEL.png (NUMBER.png
/// without a label). Batches are unpacked. Errors: ConfigError if the flow has no image; DataError,
/// ResourceError of reading and writing.
void write_sample_images(const DataFlow& flow, const std::string& folder, int count, uint64_t seed);

}  // namespace tpack
