#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sources/format/zip.h"
#include "weights/weight_elements.h"

namespace tpack {

/// A dataset of numbers.
struct Hdf5Array {
  std::string path;  // "layers/conv2d/vars/0"
  ElementType type;
  Shape shape;
};

/// The datasets of an HDF5 file that another program wrote. Refused are soft and external links, data in
/// other files, and more than 64 levels or 100,000 objects. Datasets are stored as they are, or in chunks,
/// compressed (gzip) or not, and unpack to at most 100 times their size, or 1 MB. Threads: any number at
/// once.
class Hdf5Arrays {
 public:
  /// Errors: DataError or CheckpointError with `path`.
  Hdf5Arrays(OwnedBytes file, const std::string& path);
  ~Hdf5Arrays();
  Hdf5Arrays(const Hdf5Arrays&) = delete;
  Hdf5Arrays& operator=(const Hdf5Arrays&) = delete;

  /// In the order of their paths.
  const std::vector<Hdf5Array>& arrays() const;
  /// Datasets without numbers that a tensor may have, and what they are.
  const std::vector<std::pair<std::string, std::string>>& others() const;
  bool has_group(const std::string& path) const;
  /// The texts of an attribute of a group ("" is the root), as Hdf5Texts::find.
  std::optional<std::vector<std::string>> texts(const std::string& group, std::string_view attribute) const;
  /// Errors: DataError with the path of the file and of the array if its data are damaged.
  Tensor read(const Hdf5Array& array) const;

 private:
  struct Open;
  std::unique_ptr<Open> open_;
};

}  // namespace tpack
