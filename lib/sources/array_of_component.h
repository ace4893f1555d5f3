#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/field.h"
#include "tensor/tensor.h"

namespace tpack {

/// A component and the array of a file that it is read from: {image: x_train}.
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

/// For these components of another file, the arrays that `known` names, else those of their own names.
std::vector<ArrayOfComponent> arrays_of(const std::vector<std::string>& components,
                                        const std::vector<ArrayOfComponent>& known);

/// What to say of an array of doubles that has whole numbers which float32 rounds, such as times and ids;
/// empty if none of these numbers is one.
std::string remark_of_rounded(const std::string& array, std::span<const double> numbers);

/// uint8 [height, width, 1 or 3] is an image, and [height, width] is a gray one.
bool is_image_spec(const TensorSpec& sample);

}  // namespace tpack
