#include "dataflow/formula_step.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string>

#include "core/error.h"
#include "core/text.h"
#include "dataflow/sample_error.h"

namespace tpack {
namespace {

using StepKind = FormulaStep::Kind;

/// The elements [first, first + count) of an axis; unknown if they depend on an unknown size.
struct AxisPart {
  int64_t first = 0;
  int64_t count = 0;
};

/// Slices are clipped as in Python. Errors: ShapeError for an index out of range.
AxisPart part_of(const SubscriptAxis& range, int64_t size, size_t axis) {
  const auto from_start = [&](int64_t place) { return place < 0 ? place + size : place; };
  if (range.is_item) {
    const int64_t item = size == Shape::kUnknown ? 0 : from_start(*range.begin);
    if (size != Shape::kUnknown && (item < 0 || item >= size))
      throw ShapeError("axis " + std::to_string(axis) + " has " + std::to_string(size) +
                       " elements, and none at " + std::to_string(*range.begin));
    return {item, 1};
  }
  if (size == Shape::kUnknown) return {0, Shape::kUnknown};
  const int64_t first = std::clamp<int64_t>(from_start(range.begin.value_or(0)), 0, size);
  const int64_t last = std::clamp<int64_t>(from_start(range.end.value_or(size)), 0, size);
  return {first, std::max<int64_t>(last - first, 0)};
}

/// Errors: ShapeError.
Shape subscripted(const std::vector<SubscriptAxis>& ranges, const Shape& shape) {
  if (ranges.size() > shape.rank())
    throw ShapeError("a subscript of " + std::to_string(ranges.size()) +
                     (ranges.size() == 1 ? " axis" : " axes") + " for the shape " + shape.str());
  std::vector<int64_t> sizes;
  for (size_t axis = 0; axis < shape.rank(); ++axis) {
    const int64_t size = shape[static_cast<int>(axis)];
    const AxisPart part = axis < ranges.size() ? part_of(ranges[axis], size, axis) : AxisPart{0, size};
    if (axis >= ranges.size() || !ranges[axis].is_item) sizes.push_back(part.count);
  }
  return Shape(sizes);
}

/// The shape of tensors joined along the first axis; numbers are one element. Errors: ShapeError.
Shape joined(std::span<const Shape> parts) {
  Shape all;
  for (const Shape& part : parts) {
    const Shape one = part.rank() == 0 ? Shape{1} : part;
    if (all.rank() == 0) {
      all = one;
      continue;
    }
    if (all.rank() != one.rank() || !(all.drop_front() == one.drop_front()))
      throw ShapeError("concat joins along the first axis; the other axes must be equal, but " + all.str() +
                       " and " + one.str() + " differ");
    const bool is_known = all[0] != Shape::kUnknown && one[0] != Shape::kUnknown;
    all = all.with(0, is_known ? all[0] + one[0] : Shape::kUnknown);
  }
  return all;
}

/// The same elements in a larger shape.
std::vector<double> spread(const FormulaValue& x, const Shape& shape) {
  const auto rank = static_cast<int>(shape.rank());
  std::array<int64_t, Shape::kMaxRank> steps{};  // between neighbors of each axis, in x
  int64_t step = 1;
  for (int axis = rank - 1, own = static_cast<int>(x.shape.rank()) - 1; own >= 0; --axis, --own) {
    steps[static_cast<size_t>(axis)] = x.shape[own] == 1 ? 0 : step;
    step *= x.shape[own];
  }
  std::vector<double> all(static_cast<size_t>(shape.elements()));
  for (size_t i = 0; i < all.size(); ++i) {
    int64_t place = 0;
    auto rest = static_cast<int64_t>(i);
    for (int axis = rank - 1; axis >= 0; --axis) {
      place += rest % shape[axis] * steps[static_cast<size_t>(axis)];
      rest /= shape[axis];
    }
    all[i] = x.elements[static_cast<size_t>(place)];
  }
  return all;
}

/// Runs the steps of a formula on one sample.
class FormulaRun {
 public:
  FormulaRun(const std::vector<FormulaStep>& steps, Datapoint& d) : steps_(steps), d_(d) {}

  /// Errors: DataError.
  FormulaValue result() {
    values_.resize(steps_.size());
    for (size_t i = 0; i < steps_.size(); ++i) {
      try {
        values_[i] = of(steps_[i]);
      } catch (const ShapeError& error) {
        fail(steps_[i], error.problems()[0].text);
      }
      round(steps_[i], values_[i].elements);
    }
    return std::move(values_.back());
  }

 private:
  [[noreturn]] static void fail(const FormulaStep& step, const std::string& text) {
    throw PartError(step.where, {}, text);
  }
  const FormulaValue& operand(const FormulaStep& step, size_t i) const { return values_[step.operands[i]]; }

  FormulaValue of(const FormulaStep& step) {
    switch (step.kind) {
      case StepKind::kNumber:
        return {{}, {step.number}};
      case StepKind::kComponent:
        return component(step);
      case StepKind::kSubscript:
        return part(step);
      case StepKind::kElements:
        return elements(step);
      case StepKind::kReduction:
        return reduced(step);
      case StepKind::kConcat:
        return joined_parts(step);
    }
    return {};
  }

  FormulaValue component(const FormulaStep& step) {
    const Tensor& x = d_.to_tensor(step.component);
    FormulaValue out{x.shape(), std::vector<double>(static_cast<size_t>(x.elements()))};
    visit(x.dtype(), [&](auto zero) {
      const auto values = x.span<decltype(zero)>();
      std::transform(values.begin(), values.end(), out.elements.begin(),
                     [](auto value) { return static_cast<double>(value); });
    });
    return out;
  }

  FormulaValue part(const FormulaStep& step) const {
    const FormulaValue& x = operand(step, 0);
    FormulaValue out{subscripted(step.ranges, x.shape), x.elements};
    int64_t before = 1;
    for (size_t axis = 0; axis < step.ranges.size(); ++axis) {  // one axis after the other
      const int64_t size = x.shape[static_cast<int>(axis)];
      const AxisPart kept = part_of(step.ranges[axis], size, axis);
      const int64_t row = before * size == 0 ? 0 : std::ssize(out.elements) / (before * size);
      std::vector<double> elements;
      for (int64_t i = 0; i < before; ++i) {
        const auto first = out.elements.begin() + (i * size + kept.first) * row;
        elements.insert(elements.end(), first, first + kept.count * row);
      }
      out.elements = std::move(elements);
      before *= kept.count;
    }
    return out;
  }

  FormulaValue elements(const FormulaStep& step) const {
    std::array<Shape, 3> shapes{};
    for (size_t i = 0; i < step.operands.size(); ++i) shapes[i] = operand(step, i).shape;
    FormulaValue out{shape_of(step, std::span(shapes).first(step.operands.size()))};
    out.elements.resize(static_cast<size_t>(out.shape.elements()));
    static constexpr double kNone = 0;
    std::array<std::vector<double>, 3> larger;
    std::array<const double*, 3> x = {&kNone, &kNone, &kNone};
    std::array<size_t, 3> stride{};
    for (size_t i = 0; i < step.operands.size(); ++i) {
      const FormulaValue& from = operand(step, i);
      const bool is_one = from.elements.size() == 1;
      if (!is_one && !(from.shape == out.shape)) larger[i] = spread(from, out.shape);
      x[i] = larger[i].empty() ? from.elements.data() : larger[i].data();
      stride[i] = is_one ? 0 : 1;
    }
    for (size_t i = 0; i < out.elements.size(); ++i)
      out.elements[i] = step.operation->of(x[0][i * stride[0]], x[1][i * stride[1]], x[2][i * stride[2]]);
    return out;
  }

  FormulaValue reduced(const FormulaStep& step) const {
    const std::vector<double>& x = operand(step, 0).elements;
    if (x.empty() && step.reduction->needs_elements)
      fail(step, std::string("'") + step.reduction->name + "' of no elements has no value");
    return {{}, {step.reduction->of(x)}};
  }

  FormulaValue joined_parts(const FormulaStep& step) const {
    std::vector<Shape> shapes;
    FormulaValue out;
    for (size_t i = 0; i < step.operands.size(); ++i) {
      const FormulaValue& part = operand(step, i);
      shapes.push_back(part.shape);
      out.elements.insert(out.elements.end(), part.elements.begin(), part.elements.end());
    }
    out.shape = shape_of(step, shapes);
    return out;
  }

  static void round(const FormulaStep& step, std::vector<double>& x) {
    const DType type = step.result.dtype;
    const bool is_computed = step.kind != StepKind::kComponent && step.kind != StepKind::kNumber;
    if (type == DType::kFloat32 && is_computed)
      for (double& value : x) value = static_cast<double>(static_cast<float>(value));
    if (type != DType::kInt32 && type != DType::kInt64) return;
    const double most = type == DType::kInt64 ? kMostExactInteger : std::numeric_limits<int32_t>::max();
    const double least = type == DType::kInt64 ? -kMostExactInteger : std::numeric_limits<int32_t>::min();
    const auto bad =
        std::find_if(x.begin(), x.end(), [&](double value) { return !(value >= least && value <= most); });
    if (bad == x.end()) return;
    fail(step, csv_field(*bad) + " is not a number of " + name_of(type) +
                   (type == DType::kInt64 ? " up to 2^53" : "") +
                   (is_computed ? "; write float(...) of an operand" : ""));
  }

  const std::vector<FormulaStep>& steps_;
  Datapoint& d_;
  std::vector<FormulaValue> values_;
};

}  // namespace

Shape shape_of(const FormulaStep& step, std::span<const Shape> operands) {
  Shape shape;
  if (step.kind == StepKind::kConcat) return joined(operands);
  if (step.kind == StepKind::kSubscript) return subscripted(step.ranges, operands[0]);
  if (step.kind == StepKind::kElements)
    for (const Shape& operand : operands) shape = broadcast(shape, operand);
  return shape;
}

FormulaValue run_formula(const std::vector<FormulaStep>& steps, Datapoint& d) {
  return FormulaRun(steps, d).result();
}

}  // namespace tpack
