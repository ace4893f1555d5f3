#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/field.h"
#include "tensor/tensor.h"

namespace tpack {

/// A component and its array in a file: {image: x_train}.
struct ArrayOfComponent {
  std::string component;
  std::string array;
  Position position = {};
};

template <>
struct Codec<std::vector<ArrayOfComponent>> {
  static FieldType type();
  static std::optional<std::vector<ArrayOfComponent>> parse(const ConfigNode& node, Reader& reader);
  static ConfigNode dump(const std::vector<ArrayOfComponent>& all);
};

/// The arrays of these components in another file: those in `known`, else arrays with the name of the
/// component.
std::vector<ArrayOfComponent> arrays_of(const std::vector<std::string>& components,
                                        const std::vector<ArrayOfComponent>& known);

/// The warning for an array of doubles with whole numbers that float32 rounds, such as times and ids; empty
/// if there are none.
std::string remark_of_rounded(const std::string& array, std::span<const double> numbers);

/// uint8 [height, width, 1 or 3] is an image, and [height, width] is a gray one.
bool is_image_spec(const TensorSpec& sample);

}  // namespace tpack
