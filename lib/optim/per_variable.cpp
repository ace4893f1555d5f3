#include "optim/per_variable.h"

#include <algorithm>

#include "graph/variable_pattern.h"
#include "ops/concat.h"
#include "ops/pad.h"
#include "ops/segment.h"

namespace tpack {
namespace {

/// Each with the zeros behind it.
SegmentParams segments_of(const FlatLayout& layout) {
  SegmentParams segments;
  for (size_t i = 0; i < layout.entries.size(); ++i) {
    const bool is_last = i + 1 == layout.entries.size();
    const int64_t end = is_last ? layout.size : layout.entries[i + 1].offset;
    segments.lengths.push_back(end - layout.entries[i].offset);
  }
  return segments;
}

}  // namespace

Symbol norms_of_variables(Builder& b, const FlatLayout& layout, Symbol block) {
  return b.sqrt(segment_dot(b, block, block, segments_of(layout)));
}

Symbol at_elements(Builder& b, const FlatLayout& layout, Symbol numbers) {
  return segment_spread(b, numbers, segments_of(layout));
}

Symbol constants_of_variables(Builder& b, const FlatLayout& layout, const NumberOfVariable& number) {
  std::vector<double> numbers;
  for (const FlatLayout::Entry& variable : layout.entries) numbers.push_back(number(variable));
  const Tensor all = Tensor::of<double>({static_cast<int64_t>(numbers.size())}, numbers);
  return b.constant(all.cast(b.float_type()));
}

Symbol constants_of_elements(Builder& b, const FlatLayout& layout, const NumberOfVariable& number) {
  Tensor all(TensorSpec{DType::kFloat64, Shape{layout.size}});
  const std::span<double> values = all.span<double>();
  std::fill(values.begin(), values.end(), 0.0);
  for (const FlatLayout::Entry& variable : layout.entries) {
    const auto own =
        values.subspan(static_cast<size_t>(variable.offset), static_cast<size_t>(variable.shape.elements()));
    std::fill(own.begin(), own.end(), number(variable));
  }
  return b.constant(all.cast(b.float_type()));
}

Symbol values_of_variable(Builder& b, const FlatLayout::Entry& variable, Symbol block) {
  return b.reshape(slice(b, block, {variable.offset}, Shape{variable.shape.elements()}), variable.shape);
}

Symbol block_of_values(Builder& b, const FlatLayout& layout, const ValuesOfVariable& values) {
  std::vector<Symbol> parts;
  int64_t begin = 0;  // of what no part has yet
  const auto fill_up_to = [&](int64_t end) {
    if (begin < end) parts.push_back(b.constant(0, Shape{end - begin}));
  };
  for (const FlatLayout::Entry& variable : layout.entries) {
    const std::optional<Symbol> own = values(variable);
    if (!own) continue;
    fill_up_to(variable.offset);
    parts.push_back(b.reshape(*own, Shape{variable.shape.elements()}));
    begin = variable.offset + variable.shape.elements();
  }
  fill_up_to(layout.size);
  return parts.size() == 1 ? parts.front() : concat(b, parts, 0);
}

void check_patterns_of(const FlatLayout& layout, const std::vector<Ref<VariablePattern>>& patterns,
                       const std::string& what) {
  std::vector<std::string> known;
  for (const FlatLayout::Entry& variable : layout.entries) known.push_back(variable.name);
  Diagnostics errors;
  check_patterns(patterns, known, "trained variable", errors, what + ": ");
  errors.throw_if_any();
}

}  // namespace tpack
