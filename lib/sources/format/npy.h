#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sources/format/zip.h"
#include "tensor/tensor.h"

namespace tpack {

/// An array of NumPy, whose first axis counts samples.
///
/// Conversion: float16, float32 and float64 to float32; uint8 and bool stay; other integers to int32.
/// Threads: any number at once.
class NpyArray {
 public:
  /// Reads the header of an .npy file; the elements stay in the file, except that an array in Fortran order
  /// is copied to C order. `where` is the name of the array in messages: "data.npz: 'x'". Errors: DataError
  /// if it is damaged, has elements of another type, no axes, or no elements.
  NpyArray(OwnedBytes file, const std::string& where);

  /// The spec of one sample.
  const TensorSpec& spec() const { return spec_; }
  int64_t samples() const { return samples_; }
  /// Copies a sample to `out`, which has spec(). Errors: DataError for numbers out of range of its type.
  void get(int64_t index, const Tensor& out) const;
  /// The first elements in the file, if they are doubles: up to 4,096.
  std::vector<double> first_doubles() const;

 private:
  struct Type;  // of the elements in the file
  static const std::vector<Type>& types();
  void to_c_order(const std::vector<int64_t>& sizes);

  const Type* type_ = nullptr;
  OwnedBytes data_;
  TensorSpec spec_;
  int64_t samples_ = 0;
};

}  // namespace tpack
