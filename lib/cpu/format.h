#pragma once

#include <cstdint>
#include <string>

#include <oneapi/dnnl/dnnl.hpp>

#include "tensor/tensor.h"

/// The CPU backend: oneDNN for convolutions and matrix products, tpack's own sweeps (Highway) for the rest.
namespace tpack::cpu {

/// How the elements of a tensor are laid out in memory. Only tensors of four axes have a choice.
enum class Layout : uint8_t {
  kPlain,    // row-major in the logical order [N, C, H, W]
  kNhwc,     // channels last
  kBlocked,  // nChw16c: blocks of 16 channels, the last one filled up with zeros
  kOpaque    // one of oneDNN's own formats, for packed weights
};
/// Channels of a block in Layout::kBlocked.
inline constexpr int64_t kBlock = 16;
const char* name_of(Layout layout);
Layout layout_from(const std::string& name);

/// A layout and oneDNN's description of it. Types that oneDNN has no name for are described by their width.
struct Format {
  Layout layout = Layout::kPlain;
  dnnl::memory::desc md;

  uint64_t bytes() const { return md.get_size(); }
};

/// The format of a tensor in a layout; tensors with any other number of axes than four are always plain.
/// So are those of int64. Errors: ConfigError for float64, which only the reference backend computes.
Format make_format(const TensorSpec& spec, Layout layout);
Format opaque(const dnnl::memory::desc& md);

/// True if both describe the same bytes in the same order (axes of size 1 have no order).
bool same_memory(const Format& a, const Format& b);

/// Channels of a tensor in a layout, padding included.
int64_t padded_channels(const Shape& shape, Layout layout);

const dnnl::engine& engine();

}  // namespace tpack::cpu
