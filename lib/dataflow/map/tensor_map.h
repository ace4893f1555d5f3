#pragma once

#include "tensor/tensor.h"

namespace tpack {

/// A named function on one tensor, for MapData. Pure: any number of workers may call it at once.
class TensorMap {
 public:
  static constexpr const char* kKind = "tensor map";

  TensorMap() = default;
  TensorMap(const TensorMap&) = delete;
  TensorMap& operator=(const TensorMap&) = delete;
  virtual ~TensorMap() = default;

  /// Type and shape of the output; sizes may be unknown. Errors: ConfigError if the function is undefined for
  /// `in`.
  virtual TensorSpec spec(const TensorSpec& in) const = 0;
  /// Fills `out`, which has spec(in.spec()). Errors: DataError for values that are out of range.
  virtual void apply(const Tensor& in, const Tensor& out) const = 0;
};

}  // namespace tpack
