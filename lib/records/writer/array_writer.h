#pragma once

#include <memory>
#include <string>
#include <vector>

#include "records/writer/record_writer.h"
#include "sources/format/npy.h"

namespace tpack {

/// An array of all samples, whose elements are the content of a file.
struct ArrayFile {
  std::string name;
  DType dtype = DType::kFloat32;
  std::vector<int64_t> sizes;  // the first one is the number of samples
  std::string elements;        // path
};

/// A writer that collects each component in a file, and calls `assemble` with all of them at the end. Samples
/// must have one size; images are decoded.
std::unique_ptr<RecordWriter> array_writer(const std::string& folder, const Spec& spec,
                                           void (*assemble)(const std::vector<ArrayFile>& arrays,
                                                            const std::string& path));

/// Writes an archive as numpy.savez does. Errors: ResourceError.
void write_npz(const std::vector<ArrayFile>& arrays, const std::string& path);

}  // namespace tpack
