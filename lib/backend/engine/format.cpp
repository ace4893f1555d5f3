#include "backend/engine/format.h"

#include <algorithm>
#include <array>

#include "backend/plan.h"

namespace tpack {
namespace {

constexpr std::array<const char*, 4> kNames = {"plain", "nhwc", "nChw16c", "opaque"};

/// The strides of the axes; `order`: the axes as they are in memory, the outermost first.
std::vector<int64_t> strides_of(const Shape& sizes, const std::vector<size_t>& order) {
  std::vector<int64_t> strides(sizes.rank());
  int64_t step = 1;
  for (size_t i = order.size(); i-- > 0;) {
    strides[order[i]] = step;
    step *= sizes[static_cast<int>(order[i])];
  }
  return strides;
}

/// One pixel of full blocks is a plain vector.
bool is_pixel_of_blocks(const Format& format) {
  const Shape& s = format.sizes;
  return format.layout != Layout::kOpaque && s.rank() == 4 && s[2] == 1 && s[3] == 1 &&
         s[1] % kBlockChannels == 0;
}

}  // namespace

const char* name_of(Layout layout) { return kNames[static_cast<size_t>(layout)]; }

Layout layout_from(const std::string& name) {
  for (size_t i = 0; i < kNames.size(); ++i) {
    const auto layout = static_cast<Layout>(i);
    if (name == kNames[i] && layout != Layout::kOpaque) return layout;
  }
  throw PlanError("unknown layout '" + name + "' in the plan; known: plain, nhwc, nChw16c");
}

Format make_format(const TensorSpec& spec, Layout layout) {
  if (spec.shape.rank() != 4 || spec.dtype == DType::kInt64) layout = Layout::kPlain;
  Format format{.layout = layout, .type = spec.dtype, .sizes = spec.shape};
  std::vector<size_t> order;
  for (size_t axis = 0; axis < spec.shape.rank(); ++axis) order.push_back(axis);
  if (layout == Layout::kNhwc) order = {0, 2, 3, 1};
  if (layout != Layout::kBlocked) format.strides = strides_of(spec.shape, order);
  const int64_t elements = layout == Layout::kBlocked
                               ? spec.shape.with(1, padded_channels(spec.shape, layout)).elements()
                               : spec.shape.elements();
  format.byte_count = static_cast<uint64_t>(elements) * size_of(spec.dtype);
  return format;
}

bool same_memory(const Format& a, const Format& b) {
  if (a == b) return true;
  if (a.type != b.type || !(a.sizes == b.sizes)) return false;
  if (is_pixel_of_blocks(a) && is_pixel_of_blocks(b)) return true;
  if (a.strides.empty() || b.strides.empty()) return false;
  for (size_t axis = 0; axis < a.strides.size(); ++axis)
    if (a.sizes[static_cast<int>(axis)] != 1 && a.strides[axis] != b.strides[axis]) return false;
  return true;
}

int64_t padded_channels(const Shape& shape, Layout layout) {
  return layout == Layout::kBlocked ? (shape[1] + kBlockChannels - 1) / kBlockChannels * kBlockChannels
                                    : shape[1];
}

}  // namespace tpack
