#pragma once

#include <functional>

#include "sources/format/stored_value.h"

namespace tpack {

/// Where values of a pickle are made, and what they may need.
struct PickleMemory {
  StoredPool& pool;
  /// Errors: DataError if the values need too much memory with these bytes.
  std::function<void(size_t bytes)> charge;
};

/// The result of a call of a function with these arguments: the value if it is known, otherwise an object.
/// Errors: DataError if `function` is not a function, or if arguments of a known one are invalid.
StoredValue called(const StoredValue& function, const StoredValue& arguments, PickleMemory& memory);
/// Sets the state of a value that a call made. Errors: DataError if it cannot have one, or if it is invalid.
void set_state(const StoredValue& value, const StoredValue& state, PickleMemory& memory);

/// The bytes of a text whose characters are bytes (ISO 8859-1). Errors: DataError for other characters.
std::string latin1_bytes(std::string_view text);

}  // namespace tpack
