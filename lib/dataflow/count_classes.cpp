#include "dataflow/count_classes.h"

#include <algorithm>

namespace tpack {
namespace {

void add(std::span<const int32_t> numbers, bool has_names, std::vector<SourceFacts::Class>& classes) {
  for (const int32_t number : numbers) {
    if (number < 0) continue;
    const auto label = static_cast<size_t>(number);
    if (!has_names && label >= classes.size()) classes.resize(label + 1);
    if (label < classes.size()) ++classes[label].samples;
  }
}

std::vector<SourceFacts::Class> none_of(const std::vector<std::string>& names) {
  std::vector<SourceFacts::Class> classes;
  for (const std::string& name : names) classes.push_back({name, 0});
  return classes;
}

}  // namespace

std::vector<SourceFacts::Class> count_classes(const std::vector<std::string>& names,
                                              std::span<const int32_t> numbers) {
  std::vector<SourceFacts::Class> classes = none_of(names);
  add(numbers, !names.empty(), classes);
  return classes;
}

std::optional<std::vector<SourceFacts::Class>> count_classes(const RandomAccessSource& source,
                                                             const std::string& component) {
  const Spec spec = source.spec();
  const auto at = spec.find(component);
  if (!at || spec[*at].is_image) return std::nullopt;
  const auto& [dtype, shape] = spec[*at].tensor;
  const std::vector<std::string>& names = spec[*at].classes;
  if (dtype != DType::kInt32 && dtype != DType::kUInt8) return std::nullopt;
  if (shape.rank() == 0 && dtype == DType::kInt32)
    return count_classes(names, source.class_numbers(component));

  std::vector<SourceFacts::Class> classes = none_of(names);
  const int64_t samples = shape.elements() == 1 ? source.size() : std::min(source.size(), kCountedSamples);
  Datapoint sample;
  for (int64_t i = 0; i < samples; ++i) {
    const int64_t index = i * source.size() / samples;
    sample.resize(spec.size());
    try {
      source.get(index, {.seed = 0, .id = {.index = index}}, sample);
    } catch (const DataError&) {
      continue;  // training says what is wrong with it
    }
    add(sample.tensor(*at).cast(DType::kInt32).span<int32_t>(), !names.empty(), classes);
  }
  return classes;
}

}  // namespace tpack
