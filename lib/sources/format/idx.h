#pragma once

#include <string>

#include "tensor/tensor.h"

namespace tpack {

/// Reads an IDX file (the format of MNIST), plain or gzip. uint8 elements only; the sizes come from its
/// header. Errors: DataError with the path if the file cannot be read, is not an IDX file of `rank` axes, is
/// damaged, or does not have exactly the bytes that its header declares.
Tensor read_idx(const std::string& path, size_t rank);

}  // namespace tpack
