#include "dataflow/count_classes.h"

#include <algorithm>
#include <functional>

#include "dataflow/chosen_flow.h"

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

using Classes = std::vector<SourceFacts::Class>;

bool may_have_classes(const ComponentSpec& component) {
  const DType dtype = component.tensor.dtype;
  return !component.is_image && (dtype == DType::kInt32 || dtype == DType::kUInt8);
}

void add(const Tensor& numbers, bool has_names, Classes& classes) {
  add(numbers.cast(DType::kInt32).span<int32_t>(), has_names, classes);
}

/// `index_of` returns the samples of the source that count, `size` of them.
std::optional<Classes> count(const RandomAccessSource& source, const std::string& component, int64_t size,
                             const std::function<int64_t(int64_t)>& index_of) {
  const Spec spec = source.spec();
  const auto at = spec.find(component);
  if (!at || !may_have_classes(spec[*at])) return std::nullopt;
  const auto& [dtype, shape] = spec[*at].tensor;
  const std::vector<std::string>& names = spec[*at].classes;
  Classes classes = none_of(names);
  if (shape.rank() == 0 && dtype == DType::kInt32) {
    const std::vector<int32_t> all = class_numbers(source, component);
    for (int64_t i = 0; i < size; ++i)
      add(std::span(&all[static_cast<size_t>(index_of(i))], 1), !names.empty(), classes);
    return classes;
  }
  const bool is_number = shape.known() && shape.elements() == 1;  // masks have the sizes of their images
  const int64_t samples = is_number ? size : std::min(size, kCountedSamples);
  Datapoint sample;
  for (int64_t i = 0; i < samples; ++i) {
    const int64_t index = index_of(i * size / samples);
    sample.resize(spec.size());
    try {
      source.get(index, {.seed = 0, .id = {.index = index}}, sample);
    } catch (const DataError&) {
      continue;  // training reports the error
    }
    add(sample.tensor(*at), !names.empty(), classes);
  }
  return classes;
}

/// Counts in a pass over a flow of samples.
std::optional<Classes> read_classes(const Flow& flow, const std::string& component) {
  const auto at = flow.spec().find(component);
  if (!at || !may_have_classes(flow.spec()[*at])) return std::nullopt;
  const std::vector<std::string>& names = flow.spec()[*at].classes;
  Classes classes = none_of(names);
  const auto cursor = flow.open({});
  for (Datapoint sample;;) {
    try {
      if (!cursor->next(sample)) return classes;
    } catch (const DataError&) {
      continue;  // training reports the error
    }
    add(sample.to_tensor(*at), !names.empty(), classes);
  }
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
  return count(source, component, source.size(), [](int64_t i) { return i; });
}

std::optional<std::vector<SourceFacts::Class>> count_classes(const DataFlow& flow,
                                                             const std::string& component) {
  flow.prepare();
  const Flow* filtered = nullptr;  // including dropped samples
  const ChosenFlow* chosen = nullptr;
  const Flow* at = flow.flow().get();
  while (const auto* wrapped = dynamic_cast<const WrappedFlow*>(at)) {
    if (filtered == nullptr && at->access() == Access::kFiltered) filtered = at;
    if (const auto* of = dynamic_cast<const ChosenFlow*>(at)) chosen = of;
    at = &wrapped->up();
  }
  if (filtered != nullptr) return read_classes(*filtered, component);
  for (const Source* source : flow.sources()) {
    const auto indexed = source->indexed();
    if (indexed == nullptr) continue;
    auto classes = chosen == nullptr ? count_classes(*indexed, component)
                                     : count(*indexed, component, chosen->places(),
                                             [&](int64_t place) { return chosen->locate({}, place).index; });
    if (classes) return classes;
  }
  return std::nullopt;
}

}  // namespace tpack
