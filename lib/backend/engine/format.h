#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tensor/tensor.h"

namespace tpack {

/// The memory layout of a tensor. Only tensors with four axes have a choice.
enum class Layout : uint8_t {
  kPlain,    // row-major in the logical order [N, C, H, W]
  kNhwc,     // channels last
  kBlocked,  // nChw16c: blocks of 16 channels, the last one filled up with zeros
  kOpaque    // chosen by a kernel library, for packed weights
};
/// Channels of a block in Layout::kBlocked.
inline constexpr int64_t kBlockChannels = 16;
const char* name_of(Layout layout);
/// Errors: PlanError.
Layout layout_from(const std::string& name);

/// A tensor in memory.
struct Format {
  Layout layout = Layout::kPlain;
  DType type = DType::kFloat32;
  Shape sizes;
  std::vector<int64_t> strides = {};  // in elements, by axis; empty: not one number for each axis
  uint64_t opaque = 0;                // for kOpaque: the library's identifier
  uint64_t byte_count = 0;

  uint64_t bytes() const { return byte_count; }
  bool operator==(const Format&) const = default;
};

/// The format of a tensor in a layout; tensors without four axes, and int64 tensors, are always plain.
Format make_format(const TensorSpec& spec, Layout layout);

/// True if both describe the same bytes in the same order (axes of size 1 have no order).
bool same_memory(const Format& a, const Format& b);

/// Channels of a tensor in a layout, padding included.
int64_t padded_channels(const Shape& shape, Layout layout);

}  // namespace tpack
