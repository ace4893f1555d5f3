#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sources/format/stored_value.h"
#include "weights/weight_elements.h"
#include "weights/weight_file.h"

namespace tpack {

/// Numbers that tensors of a file of PyTorch share.
struct TorchStorage {
  std::span<const uint8_t> bytes;
  std::shared_ptr<const void> owner;
  std::function<void()> verify;  // Errors: DataError if the bytes are damaged; may be null
};
/// The storage with this key in the file. Errors: DataError if there is none.
using FindStorage = std::function<TorchStorage(const std::string& key)>;

/// The name of a type of elements of PyTorch, by its class of storages or its dtype: "float32" of
/// "torch.FloatStorage" and "torch.float32". Nothing for types that no layer takes, and for other names.
std::optional<std::string_view> torch_element_name(std::string_view name);

/// Adds the tensors in a value to `file`, under the path of keys, items and attributes that leads to them,
/// joined by dots, without `_modules`, `_parameters` and `_buffers` of a module. Other values become
/// `others`. `owner` keeps the value and its bytes. Errors: DataError with the path and the name of a tensor
/// that is damaged.
void add_torch_values(const StoredValue& value, std::shared_ptr<const void> owner, const FindStorage& find,
                      WeightFile& file);

}  // namespace tpack
