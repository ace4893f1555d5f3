#pragma once

#include <string>

#include "tensor/tensor.h"

namespace tpack {

/// A list of Python under construction, as a pickle (protocol 4) that any NumPy reads.
class PickledList {
 public:
  PickledList();
  /// An int or float for a tensor of shape [], otherwise an array of NumPy.
  void add(const Tensor& values);
  /// A row of bytes, as an array of uint8.
  void add_bytes(std::string_view bytes);
  void add_text_bytes(std::string_view bytes);
  /// The pickle; nothing can be added afterwards.
  std::string finish();

 private:
  void add_array(std::string_view type, std::span<const int64_t> sizes, std::string_view elements);
  void put_integer(int64_t value);
  void put_bytes(std::string_view bytes);

  std::string text_;
};

}  // namespace tpack
