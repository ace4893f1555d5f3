#pragma once

#include <string>
#include <vector>

#include "records/writer/array_writer.h"

namespace tpack {

/// Writes each array as a dataset of its own, which h5py and source HDF5 read. Errors: ResourceError.
void write_hdf5(const std::vector<ArrayFile>& arrays, const std::string& path);

}  // namespace tpack
