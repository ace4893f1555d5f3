#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace tpack {

/// The user block of a checkpoint: the bytes before the HDF5 part. Lines of text: magic word and version,
/// length of the file, XXH3-128 of the whole file with the digits of the digest set to '0', then spaces.
constexpr size_t kSealBytes = 512;

/// The user block for these HDF5 bytes, which follow it in the file.
std::string make_seal(std::string_view hdf5);

/// Checks the file against its user block. Errors: CheckpointError.
void check_seal(const std::string& path);

}  // namespace tpack
