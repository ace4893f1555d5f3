#pragma once

#include <string>
#include <string_view>

#include "weights/weight_file.h"

namespace tpack {

/// Names of files that `write_weights` can write: "safetensors", "npz", "h5".
bool is_writable_weight_file(std::string_view path);

/// Writes the tensors of a file under their names and in their layout, completely or not at all: as
/// safetensors, .npz, or a checkpoint of tpack (.h5) without a config, with `/` for `.` in names. Errors:
/// ConfigError for another ending, or if the file exists; ResourceError; those of the tensors.
void write_weights(const WeightFile& file, const std::string& path);

}  // namespace tpack
