#include "weights/kernel_layout.h"

#include <cstring>

#include "core/error.h"

namespace tpack {
namespace {

using Sizes = std::vector<int64_t>;

Sizes sizes_of(const TensorSpec& spec) { return {spec.shape.sizes().begin(), spec.shape.sizes().end()}; }

KernelLayout permuted(DType type, Sizes seen, std::vector<size_t> axes) {
  Sizes sizes;
  for (const size_t axis : axes) sizes.push_back(seen[axis]);
  return {std::move(seen), std::move(axes), {type, Shape(sizes)}};
}

bool is_pointwise(const Sizes& kernel) { return kernel.size() == 4 && kernel[2] == 1 && kernel[3] == 1; }

/// PyTorch has [out, in, h, w] for a convolution, [out, in] for a dense layer and [1] for a number.
KernelLayout from_torch(const TensorSpec& there, const VariableSpec& as) {
  Sizes sizes = sizes_of(there);
  if (sizes == Sizes{1} && as.spec.shape.rank() == 0) return {sizes, {}, {there.dtype, Shape{}}};
  if (as.kernel == KernelKind::kDense) {
    if (is_pointwise(sizes)) sizes.resize(2);  // a convolution of one pixel
    if (sizes.size() == 2) return permuted(there.dtype, sizes, {1, 0});
  }
  if (as.kernel == KernelKind::kConvolution && sizes.size() == 2 && is_pointwise(sizes_of(as.spec))) {
    sizes.resize(4, 1);
    return {sizes, {}, {there.dtype, Shape(sizes)}};
  }
  return {sizes, {}, there};
}

/// Keras has [h, w, in, out] for a convolution and [in, out] for a dense layer.
KernelLayout from_keras(const TensorSpec& there, const VariableSpec& as) {
  const Sizes sizes = sizes_of(there);
  const Sizes own = sizes_of(as.spec);
  if (as.kernel == KernelKind::kConvolution && sizes.size() == 4) {
    const bool is_depthwise = own.size() == 4 && own[1] == 1 && sizes[2] > 1 && sizes[2] * sizes[3] == own[0];
    if (!is_depthwise) return permuted(there.dtype, sizes, {3, 2, 0, 1});
    KernelLayout layout = permuted(there.dtype, sizes, {2, 3, 0, 1});
    layout.spec.shape = Shape{own[0], 1, sizes[0], sizes[1]};
    return layout;
  }
  if (as.kernel == KernelKind::kTransposedConvolution && sizes.size() == 4)
    return permuted(there.dtype, sizes, {3, 2, 0, 1});
  const Sizes image(as.flattened.sizes().begin(), as.flattened.sizes().end());
  if (as.kernel == KernelKind::kDense && sizes.size() == 2 && image.size() == 3 &&
      image[0] * image[1] * image[2] == sizes[0]) {  // the rows are in the order of h, w, channels
    KernelLayout layout = permuted(there.dtype, {image[1], image[2], image[0], sizes[1]}, {2, 0, 1, 3});
    layout.spec.shape = there.shape;
    return layout;
  }
  return {sizes, {}, there};
}

}  // namespace

KernelLayout kernel_layout(WeightStyle style, const TensorSpec& there, const VariableSpec& as) {
  switch (style) {
    case WeightStyle::kTorch:
      return from_torch(there, as);
    case WeightStyle::kKeras:
      return from_keras(there, as);
    case WeightStyle::kTpack:
      break;
  }
  return {sizes_of(there), {}, there};
}

Tensor in_layout(const Tensor& value, const KernelLayout& layout) {
  if (layout.axes.empty()) return value.reshaped(layout.spec.shape);
  const size_t rank = layout.axes.size();
  Sizes steps(rank, 1);  // of the axes as they are seen
  for (size_t axis = rank; axis-- > 1;) steps[axis - 1] = steps[axis] * layout.seen[axis];
  Tensor out(layout.spec);
  const size_t item = size_of(value.dtype());
  Sizes at(rank, 0);
  int64_t index = 0;
  for (size_t to = 0; to < out.bytes(); to += item) {
    std::memcpy(out.raw() + to, value.raw() + static_cast<size_t>(index) * item, item);
    for (size_t i = rank; i-- > 0;) {
      const size_t axis = layout.axes[i];
      index += steps[axis];
      if (++at[i] < layout.seen[axis]) break;
      index -= steps[axis] * at[i];
      at[i] = 0;
    }
  }
  return out;
}

}  // namespace tpack
