#include "fields/tensor_fields.h"

#include <algorithm>

#include "core/error.h"

namespace tpack {

std::optional<Shape> Codec<Shape>::parse(const ConfigNode& node, Reader& reader) {
  const auto sizes = Codec<std::vector<int64_t>>::parse(node, reader);
  if (!sizes) return std::nullopt;
  if (std::find(sizes->begin(), sizes->end(), 0) != sizes->end()) {
    reader.fail(node, "found a size of 0; sizes must be at least 1");
    return std::nullopt;
  }
  try {
    return Shape(*sizes);
  } catch (const ConfigError& error) {
    reader.fail(node, error.what());
    return std::nullopt;
  }
}

ConfigNode Codec<Shape>::dump(const Shape& shape) {
  return Codec<std::vector<int64_t>>::dump({shape.sizes().begin(), shape.sizes().end()});
}

}  // namespace tpack
