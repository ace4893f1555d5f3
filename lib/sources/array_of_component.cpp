#include "sources/array_of_component.h"

#include <algorithm>
#include <cmath>

#include "core/text.h"

namespace tpack {

FieldType Codec<std::vector<ArrayOfComponent>>::type() {
  return FieldType::map_of(FieldType::text(), "arrays by component");
}

std::optional<std::vector<ArrayOfComponent>> Codec<std::vector<ArrayOfComponent>>::parse(
    const ConfigNode& node, Reader& reader) {
  if (!node.is_map()) {
    reader.wrong_type(node, "arrays by component, such as {image: x_train, label: y_train}");
    return std::nullopt;
  }
  std::vector<ArrayOfComponent> all;
  for (const auto& [component, array, position] : node.entries()) {
    if (auto name = Codec<std::string>::parse(array, reader))
      all.push_back({component, std::move(*name), array.position()});
  }
  return all.size() == node.size() ? std::optional(std::move(all)) : std::nullopt;
}

ConfigNode Codec<std::vector<ArrayOfComponent>>::dump(const std::vector<ArrayOfComponent>& all) {
  std::vector<ConfigNode::Entry> entries;
  for (const ArrayOfComponent& one : all) entries.push_back({one.component, one.array});
  return ConfigNode::map(std::move(entries));
}

std::vector<ArrayOfComponent> arrays_of(const std::vector<std::string>& components,
                                        const std::vector<ArrayOfComponent>& known) {
  std::vector<ArrayOfComponent> all;
  for (const std::string& name : components) {
    const auto found = std::find_if(known.begin(), known.end(),
                                    [&](const ArrayOfComponent& one) { return one.component == name; });
    all.push_back(found == known.end() ? ArrayOfComponent{name, name} : *found);
  }
  return all;
}

std::string remark_of_rounded(const std::string& array, std::span<const double> numbers) {
  constexpr double kMostExact = 16777216;  // of float32
  const auto is_rounded = [](double x) {
    return std::abs(x) > kMostExact && std::isfinite(x) && std::trunc(x) == x &&
           static_cast<double>(static_cast<float>(x)) != x;
  };
  const auto found = std::find_if(numbers.begin(), numbers.end(), is_rounded);
  if (found == numbers.end()) return "";
  return "array '" + array + "' has whole numbers above 16,777,216 that float32 rounds, such as " +
         shortest(*found) + "; subtract an offset before you save it, or use 'arrays' to leave it out";
}

bool is_image_spec(const TensorSpec& sample) {
  const Shape& shape = sample.shape;
  if (sample.dtype != DType::kUInt8) return false;
  return shape.rank() == 2 || (shape.rank() == 3 && (shape[2] == 1 || shape[2] == 3));
}

}  // namespace tpack
