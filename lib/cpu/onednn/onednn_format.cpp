#include "cpu/onednn/onednn_format.h"

#include <algorithm>
#include <array>
#include <deque>
#include <mutex>

#include "core/error.h"

namespace tpack::cpu {
namespace {

using Tag = dnnl::memory::format_tag;
using Type = dnnl::memory::data_type;

DType dtype_of(Type type) {
  constexpr std::array<std::pair<Type, DType>, 5> kTypes = {{{Type::f32, DType::kFloat32},
                                                             {Type::s32, DType::kInt32},
                                                             {Type::bf16, DType::kBFloat16},
                                                             {Type::f16, DType::kFloat16},
                                                             {Type::u8, DType::kUInt8}}};
  const auto found = std::ranges::find(kTypes, type, &std::pair<Type, DType>::first);
  TPACK_ASSERT(found != kTypes.end(), "a oneDNN type that tpack does not have");
  return found->second;
}

Tag plain_tag(size_t rank) {
  static constexpr std::array<Tag, 9> kTags = {Tag::a,     Tag::a,      Tag::ab,      Tag::abc,     Tag::abcd,
                                               Tag::abcde, Tag::abcdef, Tag::abcdefg, Tag::abcdefgh};
  return kTags[rank];
}

/// Descriptions by the number of their format; one that is known keeps its number, as formats are compared by
/// it.
class OpaqueFormats {
 public:
  uint64_t number_of(const dnnl::memory::desc& md) {
    const std::lock_guard lock(mutex_);
    const auto index = static_cast<size_t>(std::find(all_.begin(), all_.end(), md) - all_.begin());
    if (index == all_.size()) all_.push_back(md);
    return index + 1;
  }
  dnnl::memory::desc md(uint64_t number) {
    const std::lock_guard lock(mutex_);
    return all_.at(number - 1);
  }

 private:
  std::mutex mutex_;
  std::deque<dnnl::memory::desc> all_;
};

OpaqueFormats& opaque_formats() {
  static auto& all = *new OpaqueFormats();
  return all;
}

}  // namespace

Type type_of(DType dtype) {
  switch (dtype) {
    case DType::kFloat32:
      return Type::f32;
    case DType::kInt32:
    case DType::kInt64:  // in two parts
      return Type::s32;
    case DType::kBFloat16:
      return Type::bf16;
    case DType::kFloat16:
      return Type::f16;
    case DType::kUInt8:
    case DType::kBool:
      return Type::u8;
    default:
      throw ConfigError("the cpu backend computes in float32, not in " + std::string(name_of(dtype)) +
                        "; use engine: {backend: reference} for float64");
  }
}

dnnl::memory::desc md_of(const Format& format) {
  if (format.layout == Layout::kOpaque) return opaque_formats().md(format.opaque);
  const Type type = type_of(format.type);
  if (format.type == DType::kInt64) return {{2 * format.sizes.elements()}, type, Tag::a};
  dnnl::memory::dims dims(format.sizes.sizes().begin(), format.sizes.sizes().end());
  if (dims.empty()) dims = {1};
  Tag tag = plain_tag(format.sizes.rank());
  if (format.layout == Layout::kNhwc) tag = Tag::nhwc;
  if (format.layout == Layout::kBlocked) tag = Tag::nChw16c;
  return {dims, type, tag};
}

Format opaque(const dnnl::memory::desc& md) {
  const dnnl::memory::dims dims = md.dims();
  Format format{.layout = Layout::kOpaque,
                .type = dtype_of(md.data_type()),
                .sizes = Shape(std::vector<int64_t>(dims.begin(), dims.end())),
                .opaque = opaque_formats().number_of(md),
                .byte_count = md.get_size()};
  const bool has_strides =
      md.data.format_kind == dnnl_blocked && md.data.format_desc.blocking.inner_nblks == 0;
  const auto& strides = md.data.format_desc.blocking.strides;
  if (has_strides) format.strides.assign(strides, strides + dims.size());
  return format;
}

const dnnl::engine& engine() {
  static const dnnl::engine kCpu(dnnl::engine::kind::cpu, 0);
  return kCpu;
}

}  // namespace tpack::cpu
