#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sources/format/zip.h"
#include "tensor/tensor.h"

namespace tpack {

/// A type of elements in files, little-endian, and how they become those of a tensor.
struct NpyType {
  std::string_view descr;  // as in a header, without the byte order: "i8"
  std::string_view name;   // "int64"
  size_t bytes;
  DType dtype;
  /// Elements need not be aligned. Errors: DataError for numbers out of range of `dtype`.
  void (*convert)(const uint8_t* from, const Tensor& out);
};
/// bool, and integers and floats of up to 64 bits.
std::span<const NpyType> npy_types();
/// The type of a description such as "<i8"; null if it is not supported, or big-endian.
const NpyType* npy_type(std::string_view descr);

/// The type that stores these elements: bool, uint8, integers of 32 and 64 bits, floats.
const NpyType& stored_type(DType type);

/// The content of an .npy file.
struct NpyContent {
  const NpyType* type = nullptr;
  std::vector<int64_t> sizes;
  bool is_fortran = false;  // the first axis is the fastest
  std::span<const uint8_t> elements;
};
/// Copies elements of `item` bytes, of which the first axis is the fastest, to C order.
void copy_to_c_order(std::span<const uint8_t> from, size_t item, std::span<const int64_t> sizes, uint8_t* to);
/// Reads the header. `where`: its name in messages. Errors: DataError if it is damaged, or has elements of
/// another type.
NpyContent read_npy(std::span<const uint8_t> file, const std::string& where);
/// The header of an .npy file with such elements in C order.
std::string npy_header(const NpyType& type, std::span<const int64_t> sizes);

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
  void to_c_order(const std::vector<int64_t>& sizes);

  const NpyType* type_ = nullptr;
  OwnedBytes data_;
  TensorSpec spec_;
  int64_t samples_ = 0;
};

}  // namespace tpack
