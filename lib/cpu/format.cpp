#include "cpu/format.h"

#include <algorithm>
#include <array>

#include "backend/plan.h"

namespace tpack::cpu {
namespace {

constexpr std::array<const char*, 4> kNames = {"plain", "nhwc", "nChw16c", "opaque"};

dnnl::memory::data_type type_of(const TensorSpec& spec) {
  switch (spec.dtype) {
    case DType::kFloat32:
      return dnnl::memory::data_type::f32;
    case DType::kInt32:
    case DType::kInt64:  // in two parts
      return dnnl::memory::data_type::s32;
    case DType::kBFloat16:
      return dnnl::memory::data_type::bf16;
    case DType::kFloat16:
      return dnnl::memory::data_type::f16;
    case DType::kUInt8:
    case DType::kBool:
      return dnnl::memory::data_type::u8;
    default:
      throw ConfigError("the cpu backend computes in float32, not in " +
                        std::string(tpack::name_of(spec.dtype)) +
                        "; use engine: {backend: reference} for float64");
  }
}

dnnl::memory::format_tag plain_tag(size_t rank) {
  using Tag = dnnl::memory::format_tag;
  static constexpr std::array<Tag, 9> kTags = {Tag::a,     Tag::a,      Tag::ab,      Tag::abc,     Tag::abcd,
                                               Tag::abcde, Tag::abcdef, Tag::abcdefg, Tag::abcdefgh};
  return kTags[rank];
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
  using Tag = dnnl::memory::format_tag;
  if (spec.dtype == DType::kInt64)
    return {Layout::kPlain, dnnl::memory::desc({2 * spec.shape.elements()}, type_of(spec), Tag::a)};
  const size_t rank = spec.shape.rank();
  dnnl::memory::dims dims(spec.shape.sizes().begin(), spec.shape.sizes().end());
  if (rank == 0) dims = {1};
  Tag tag = plain_tag(rank);
  if (rank != 4) layout = Layout::kPlain;
  if (layout == Layout::kNhwc) tag = Tag::nhwc;
  if (layout == Layout::kBlocked) tag = Tag::nChw16c;
  return {layout, dnnl::memory::desc(dims, type_of(spec), tag)};
}

Format opaque(const dnnl::memory::desc& md) { return {Layout::kOpaque, md}; }

bool same_memory(const Format& a, const Format& b) {
  if (a.md == b.md) return true;
  const dnnl_memory_desc_t& x = a.md.data;
  const dnnl_memory_desc_t& y = b.md.data;
  if (x.ndims != y.ndims || x.data_type != y.data_type || x.format_kind != dnnl_blocked ||
      y.format_kind != dnnl_blocked) {
    return false;
  }
  // One pixel of full blocks is a plain vector.
  const bool one_pixel = x.ndims == 4 && x.dims[2] == 1 && x.dims[3] == 1 && x.dims[1] % 16 == 0;
  const bool known = a.layout != Layout::kOpaque && b.layout != Layout::kOpaque;
  if (one_pixel && known && std::equal(x.dims, x.dims + 4, y.dims)) return true;
  if (x.format_desc.blocking.inner_nblks != 0 || y.format_desc.blocking.inner_nblks != 0) return false;
  for (int i = 0; i < x.ndims; ++i) {
    if (x.dims[i] != y.dims[i]) return false;
    if (x.dims[i] != 1 && x.format_desc.blocking.strides[i] != y.format_desc.blocking.strides[i])
      return false;
  }
  return true;
}

int64_t padded_channels(const Shape& shape, Layout layout) {
  return layout == Layout::kBlocked ? (shape[1] + kBlock - 1) / kBlock * kBlock : shape[1];
}

const dnnl::engine& engine() {
  static const dnnl::engine kCpu(dnnl::engine::kind::cpu, 0);
  return kCpu;
}

}  // namespace tpack::cpu
