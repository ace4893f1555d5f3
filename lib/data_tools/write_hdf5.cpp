#include "data_tools/write_hdf5.h"

#include <algorithm>
#include <mutex>

#include "checkpoint/hdf5.h"
#include "core/error.h"
#include "core/hdf5_mutex.h"
#include "system/mapped_file.h"

namespace tpack {
namespace {

using hdf5::Handle;

/// Errors: ResourceError if the result is negative.
template <class T>
T written(T result, const std::string& path) {
  if (result >= 0) return result;
  throw ResourceError(path + ": cannot be written: " + hdf5::cause_of_failure());
}

/// Writes the rows in pieces, since libhdf5 copies what it converts.
void write_dataset(hid_t file, const ArrayFile& array, const std::string& path) {
  constexpr size_t kPiece = size_t{16} << 20U;
  const std::vector<hsize_t> sizes(array.sizes.begin(), array.sizes.end());
  const auto rank = static_cast<int>(sizes.size());
  const Handle space(written(H5Screate_simple(rank, sizes.data(), nullptr), path), H5Sclose);
  const Handle type = hdf5::file_type(array.dtype);
  const Handle set(written(H5Dcreate2(file, array.name.c_str(), type.get(), space.get(), H5P_DEFAULT,
                                      H5P_DEFAULT, H5P_DEFAULT),
                           path),
                   H5Dclose);
  const MappedFile elements(array.elements);
  const size_t row = elements.bytes().size() / static_cast<size_t>(array.sizes[0]);
  const auto rows = static_cast<hsize_t>(std::max<size_t>(1, kPiece / std::max<size_t>(1, row)));
  for (hsize_t begin = 0; begin < sizes[0]; begin += rows) {
    std::vector<hsize_t> start(sizes.size(), 0);
    std::vector<hsize_t> count = sizes;
    start[0] = begin;
    count[0] = std::min(rows, sizes[0] - begin);
    const Handle memory(written(H5Screate_simple(rank, count.data(), nullptr), path), H5Sclose);
    written(H5Sselect_hyperslab(space.get(), H5S_SELECT_SET, start.data(), nullptr, count.data(), nullptr),
            path);
    written(H5Dwrite(set.get(), type.get(), memory.get(), space.get(), H5P_DEFAULT,
                     elements.bytes().data() + begin * row),
            path);
  }
}

}  // namespace

void write_hdf5(const std::vector<ArrayFile>& arrays, const std::string& path) {
  const std::lock_guard lock(hdf5_mutex());
  hdf5::prepare();
  const Handle file(written(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT), path),
                    H5Fclose);
  for (const ArrayFile& array : arrays) write_dataset(file.get(), array, path);
  written(H5Fflush(file.get(), H5F_SCOPE_GLOBAL), path);
}

}  // namespace tpack
