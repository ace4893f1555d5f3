#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "core/error.h"
#include "core/registry.h"
#include "core/text.h"
#include "dataflow/batched_flow.h"
#include "dataflow/datapoint.h"

namespace tpack {
namespace {

struct PadBatchParams {
  int64_t batch_size = 0;
  std::optional<std::vector<ComponentRef>> components = {};
  double value = 0;
  int64_t multiple = 1;
  bool remainder = false;
};

constexpr const char* kPadOwner = "stage PadBatch";

/// A component whose samples have different sizes.
struct Padded {
  size_t component = 0;
  std::vector<int> axes = {};  // of a sample, whose sizes differ
};

std::vector<int> unknown_axes(const Shape& shape) {
  std::vector<int> axes;
  for (int axis = 0; axis < static_cast<int>(shape.rank()); ++axis)
    if (shape[axis] == Shape::kUnknown) axes.push_back(axis);
  return axes;
}

/// The components to pad. Errors: ConfigError if there is none, if one has nothing to pad, or if another one
/// would need padding.
std::vector<Padded> padded_components(const Spec& spec, const PadBatchParams& p, const Position& where) {
  std::vector<Padded> padded;
  std::vector<std::string> unequal;
  for (size_t i = 0; i < spec.size(); ++i) {
    if (!unknown_axes(spec[i].tensor.shape).empty()) unequal.push_back(spec[i].name);
    if (!p.components && !unknown_axes(spec[i].tensor.shape).empty())
      padded.push_back({i, unknown_axes(spec[i].tensor.shape)});
  }
  if (unequal.empty())
    throw ConfigError(where,
                      "PadBatch: all samples have the same shapes (" + spec.str() +
                          "), so there is nothing to pad; write BatchData: " + std::to_string(p.batch_size));
  if (p.components && p.components->empty())
    throw ConfigError(where, "PadBatch: 'components' is empty; name some of " + join(unequal, ", "));
  for (const ComponentRef& ref : p.components.value_or(std::vector<ComponentRef>{})) {
    const size_t at = spec.index(ref, kPadOwner);
    if (unknown_axes(spec[at].tensor.shape).empty())
      throw ConfigError(ref.position, "PadBatch: component '" + spec[at].name + "' is " +
                                          spec[at].tensor.str() +
                                          " in every sample, so there is nothing to pad; remove it from "
                                          "'components'");
    if (std::any_of(padded.begin(), padded.end(), [&](const Padded& one) { return one.component == at; }))
      throw ConfigError(ref.position, "PadBatch: 'components' has '" + spec[at].name + "' twice");
    padded.push_back({at, unknown_axes(spec[at].tensor.shape)});
  }
  for (const std::string& name : unequal) {
    const bool is_padded = std::any_of(padded.begin(), padded.end(),
                                       [&](const Padded& one) { return spec[one.component].name == name; });
    if (!is_padded)
      throw ConfigError(where, "PadBatch: component '" + name + "' is " +
                                   spec[*spec.find(name)].tensor.str() +
                                   "; samples of one batch need equal shapes; add it to 'components'");
  }
  return padded;
}

/// The samples with the lengths of their padded components.
Spec with_lengths(const Spec& samples, const std::vector<Padded>& padded, const Position& where) {
  std::vector<ComponentSpec> all(samples.begin(), samples.end());
  for (const Padded& one : padded) {
    const std::string name = samples[one.component].name + "_length";
    if (samples.find(name))
      throw ConfigError(where, "PadBatch: the lengths of '" + samples[one.component].name +
                                   "' would be called '" + name +
                                   "', but there is a component of that name; add RenameComponents: "
                                   "{names: {" +
                                   name + ": NEW_NAME}} before it");
    const auto axes = static_cast<int64_t>(one.axes.size());
    all.push_back({name, {DType::kInt32, axes == 1 ? Shape{} : Shape{axes}}});
  }
  return Spec(std::move(all));
}

/// One element of the type. Errors: ConfigError if the type cannot represent the value.
Tensor padding_of(const ComponentSpec& component, double value, const Position& where) {
  Tensor element(component.tensor.dtype, Shape{});
  visit(component.tensor.dtype, [&](auto zero) {
    using T = decltype(zero);
    if constexpr (!std::is_floating_point_v<T>) {
      const auto low = static_cast<double>(std::numeric_limits<T>::lowest());
      const auto high = static_cast<double>(std::numeric_limits<T>::max());
      if (value != std::trunc(value) || value < low || value > high)
        throw ConfigError(where, "PadBatch: 'value' is " + shortest(value) + ", but component '" +
                                     component.name + "' is " + name_of(component.tensor.dtype) +
                                     "; write an integer from " + shortest(low) + " to " + shortest(high));
    }
    *element.template data<T>() = static_cast<T>(value);
  });
  return element;
}

/// Copies `from` to the beginning of each axis of `to`, which is at least as large.
void copy_block(const Tensor& from, std::byte* to, const Shape& large) {
  const size_t size = size_of(from.dtype());
  if (from.shape().rank() == 0) {
    std::memcpy(to, from.raw(), size);
    return;
  }
  const auto last = static_cast<int>(from.shape().rank()) - 1;
  const size_t line = static_cast<size_t>(from.shape()[last]) * size;
  if (line == 0) return;
  const int64_t lines = from.elements() / from.shape()[last];
  for (int64_t i = 0; i < lines; ++i) {
    int64_t rest = i;  // the position of the line in `from`, as one in `to`
    int64_t at = 0;
    int64_t stride = 1;
    for (int axis = last - 1; axis >= 0; --axis) {
      at += rest % from.shape()[axis] * stride;
      rest /= from.shape()[axis];
      stride *= large[axis];
    }
    std::memcpy(to + static_cast<size_t>(at * large[last]) * size, from.raw() + static_cast<size_t>(i) * line,
                line);
  }
}

/// Shapes: a component [sizes...] becomes [batch, sizes...], its lengths [batch]; [batch, axes] if several
/// of its sizes differ.
class PaddedFlow final : public BatchedFlow {
 public:
  PaddedFlow(const FlowPtr& up, const PadBatchParams& p, const StageContext& context)
      : PaddedFlow(up, p, context, padded_components(up->spec(), p, context.position)) {}

  bool has_rows() const override { return false; }
  void join(std::span<Datapoint> samples, Datapoint& batch) const override {
    const size_t components = up().spec().size();
    batch.resize(components + padded_.size());
    for (size_t i = 0; i < components; ++i) {
      const auto padded =
          std::find_if(padded_.begin(), padded_.end(), [&](const Padded& one) { return one.component == i; });
      if (padded != padded_.end())
        pad(samples, static_cast<size_t>(padded - padded_.begin()), batch);
      else
        stack(samples, i, batch);
    }
    for (size_t k = 0; k < padded_.size(); ++k) write_lengths(samples, k, batch);
  }

 private:
  PaddedFlow(const FlowPtr& up, const PadBatchParams& p, const StageContext& context,
             std::vector<Padded> padded)
      : BatchedFlow(up, p.batch_size, remainder_of(p), context,
                    batches_of(with_lengths(up->spec(), padded, context.position), *up, p.batch_size,
                               remainder_of(p))),
        padded_(std::move(padded)),
        multiple_(p.multiple) {
    for (const Padded& one : padded_)
      padding_.push_back(padding_of(up->spec()[one.component], p.value, context.position));
  }

  static Remainder remainder_of(const PadBatchParams& p) {
    return p.remainder ? Remainder::kKeep : Remainder::kDrop;
  }
  /// The largest size of each axis, rounded up where sizes differ. Errors: SampleError for another type or
  /// rank.
  Shape largest(std::span<Datapoint> samples, const Padded& padded) const {
    const ComponentSpec& component = up().spec()[padded.component];
    Shape large = samples[0].tensor(padded.component).shape();
    for (Datapoint& sample : samples) {
      const Tensor& tensor = sample.tensor(padded.component);
      const Shape& shape = tensor.shape();
      const bool same_rank = shape.rank() == component.tensor.shape.rank();
      for (int axis = 0; same_rank && axis < static_cast<int>(shape.rank()); ++axis)
        large = large.with(axis, std::max(large[axis], shape[axis]));
      if (!same_rank || tensor.dtype() != component.tensor.dtype)
        throw error_of(sample, "component '" + component.name + "' is " + tensor.spec().str() + ", not " +
                                   component.tensor.str());
    }
    for (const int axis : padded.axes)
      large = large.with(axis, (large[axis] + multiple_ - 1) / multiple_ * multiple_);
    return large;
  }
  void pad(std::span<Datapoint> samples, size_t k, Datapoint& batch) const {
    const Padded& padded = padded_[k];
    const Shape large = largest(samples, padded);
    const DType dtype = up().spec()[padded.component].tensor.dtype;
    const Tensor& all = batch.renew(padded.component, {dtype, large.prepend(std::ssize(samples))});
    visit(dtype, [&](auto zero) {
      using T = decltype(zero);
      std::fill_n(all.data<T>(), all.elements(), *padding_[k].data<T>());
    });
    const size_t row = all.bytes() / samples.size();
    for (size_t i = 0; i < samples.size(); ++i)
      copy_block(samples[i].tensor(padded.component), all.raw() + i * row, large);
  }
  void stack(std::span<Datapoint> samples, size_t component, Datapoint& batch) const {
    const TensorSpec& spec = up().spec()[component].tensor;
    const Tensor& all = batch.renew(component, {spec.dtype, spec.shape.prepend(std::ssize(samples))});
    for (size_t i = 0; i < samples.size(); ++i) {
      const Tensor& one = samples[i].tensor(component);
      if (one.spec() != spec)
        throw error_of(samples[i], "component '" + up().spec()[component].name + "' is " + one.spec().str() +
                                       ", not " + spec.str());
      std::memcpy(all.raw() + i * one.bytes(), one.raw(), one.bytes());
    }
  }
  void write_lengths(std::span<Datapoint> samples, size_t k, Datapoint& batch) const {
    const std::vector<int>& axes = padded_[k].axes;
    const auto count = std::ssize(samples);
    const Tensor& lengths = batch.renew(
        up().spec().size() + k,
        {DType::kInt32, axes.size() == 1 ? Shape{count} : Shape{count, static_cast<int64_t>(axes.size())}});
    auto* to = lengths.data<int32_t>();
    for (Datapoint& sample : samples)
      for (const int axis : axes)
        *to++ = static_cast<int32_t>(sample.tensor(padded_[k].component).shape()[axis]);
  }

  std::vector<Padded> padded_;
  std::vector<Tensor> padding_;  // one element for each padded component
  int64_t multiple_;
};

/// The name of tensorflow's and PyTorch's padded batches; tensorpack leaves it to users.
class PadBatch final : public Stage {
 public:
  using Params = PadBatchParams;
  static Schema<Params> schema() {
    return Schema<Params>(
               "Makes batches of samples of different sizes: pads each component to the largest of the "
               "batch, "
               "and adds its lengths before padding as the component NAME_length, int32: one number per "
               "sample, or one for each size that differs (height and width of an image).")
        .example("PadBatch: {batch_size: 32, components: [x], multiple: 8}")
        .field("batch_size", &Params::batch_size, between(1, 1 << 24), "samples per batch")
        .required()
        .shorthand()
        .field("components", &Params::components,
               "the components to pad, by name or number; default: all whose sizes differ between samples")
        .field("value", &Params::value, "the number to pad with")
        .field("multiple", &Params::multiple, between(1, 1 << 20),
               "padded sizes are rounded up to a multiple of this, so that fewer shapes occur; each shape "
               "of a batch is prepared once, when it first occurs")
        .field("remainder", &Params::remainder,
               "true: samples left over at the end of a pass make a smaller batch; false: they are dropped");
  }
  explicit PadBatch(Params p) : p_(std::move(p)) {}

  FlowPtr wrap(FlowPtr up, const StageContext& context) const override {
    if (batched_of(*up) != nullptr)
      throw ConfigError(context.position,
                        "PadBatch: the flow has batches already; use PadBatch in place of "
                        "BatchData");
    return std::make_shared<PaddedFlow>(up, p_, context);
  }

 private:
  Params p_;
};

TPACK_REGISTER(Stage, PadBatch, "PadBatch");

}  // namespace
}  // namespace tpack
