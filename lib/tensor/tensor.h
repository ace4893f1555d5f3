#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/error.h"
#include "tensor/dtype.h"
#include "tensor/memory.h"
#include "tensor/shape.h"

namespace tpack {

/// Type and shape of a tensor.
struct TensorSpec {
  DType dtype = DType::kFloat32;
  Shape shape = {};

  int64_t bytes() const { return shape.elements() * static_cast<int64_t>(size_of(dtype)); }
  /// "float32 [128, 10]".
  std::string str() const;
  bool operator==(const TensorSpec&) const = default;
};

/// A dense row-major array in some memory (host_memory() by default). A handle: copying a Tensor shares its
/// elements, `clone` copies them. Functions that read or write elements need a tensor on the host, else
/// InternalError. Threads: as a shared_ptr; writers must synchronize themselves.
class Tensor {
 public:
  Tensor() = default;  // empty: no storage
  /// Elements are not initialized.
  explicit Tensor(TensorSpec spec);
  Tensor(DType dtype, Shape shape) : Tensor(TensorSpec{dtype, shape}) {}
  /// A window of `storage` that begins at byte `offset`.
  Tensor(TensorSpec spec, std::shared_ptr<Storage> storage, size_t offset = 0);

  template <class T>
  static Tensor of(Shape shape, const std::vector<T>& values);
  template <class T>
  static Tensor scalar(T value) {
    Tensor t(dtype_of<T>(), Shape{});
    *t.data<T>() = value;
    return t;
  }
  static Tensor zeros(TensorSpec spec);

  bool empty() const { return storage_ == nullptr; }
  const TensorSpec& spec() const { return spec_; }
  const Shape& shape() const { return spec_.shape; }
  DType dtype() const { return spec_.dtype; }
  int64_t elements() const { return spec_.shape.elements(); }
  size_t bytes() const { return static_cast<size_t>(spec_.bytes()); }
  Memory& memory() const { return storage_->memory(); }
  bool on_host() const { return storage_->on_host(); }
  std::byte* raw() const { return storage_->data() + offset_; }
  /// The first byte in the tensor's memory; only for the device that owns it.
  std::byte* address() const { return storage_->address() + offset_; }
  /// Errors: InternalError if T is another type than dtype().
  template <class T>
  T* data() const {
    TPACK_ASSERT(dtype_of<T>() == spec_.dtype, "tensor is " + spec_.str());
    return reinterpret_cast<T*>(raw());
  }
  template <class T>
  std::span<T> span() const {
    return {data<T>(), static_cast<size_t>(elements())};
  }
  /// Row `index` of the first axis, sharing the elements.
  Tensor row(int64_t index) const;
  /// Rows [begin, end) of the first axis, sharing the elements.
  Tensor rows(int64_t begin, int64_t end) const;
  /// The same elements under another shape of the same size.
  Tensor reshaped(Shape shape) const;
  /// A part of the elements that begins at byte `offset`, sharing them.
  Tensor window(TensorSpec spec, size_t offset) const;
  /// The tensor on the host: itself, sharing the elements, or a copy if it is elsewhere.
  Tensor host() const;
  /// A copy on the host.
  Tensor clone() const;
  /// Copies the elements of a tensor with the same type and number of elements, from any memory to any other;
  /// does nothing if they share them.
  void copy_from(const Tensor& from) const;
  /// Element-wise conversion to another type.
  Tensor cast(DType type) const;
  /// Element `index` (row-major) as a double.
  double at(int64_t index) const;

 private:
  TensorSpec spec_;
  std::shared_ptr<Storage> storage_;
  size_t offset_ = 0;  // bytes
};

template <class T>
Tensor Tensor::of(Shape shape, const std::vector<T>& values) {
  Tensor t(dtype_of<T>(), shape);
  TPACK_ASSERT(static_cast<int64_t>(values.size()) == t.elements(), "values do not fill " + shape.str());
  std::copy(values.begin(), values.end(), t.data<T>());
  return t;
}

/// True if type, shape and every bit are equal.
bool bit_equal(const Tensor& a, const Tensor& b);
/// Largest absolute difference of two float tensors of one shape; NaN if either has one.
double max_difference(const Tensor& a, const Tensor& b);

}  // namespace tpack
