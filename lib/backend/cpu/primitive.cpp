#include "backend/cpu/primitive.h"

#include <cstring>

#include "core/error.h"

namespace tpack::cpu {

PrimitiveKernel::PrimitiveKernel(dnnl::primitive primitive, const std::vector<Operand>& in,
                                 const std::vector<Operand>& out, const dnnl::memory::desc& scratchpad)
    : primitive_(std::move(primitive)), stream_(engine()) {
  const auto add = [&](int argument, const dnnl::memory::desc& md) {
    memories_.emplace_back(md, engine(), nullptr);
    arguments_.push_back({argument, memories_.back().get()});
  };
  for (const Operand& operand : in) add(operand.argument, operand.md);
  for (const Operand& operand : out) add(operand.argument, operand.md);
  add(DNNL_ARG_SCRATCHPAD, scratchpad);
}

void PrimitiveKernel::run(const KernelArgs& args) {
  size_t i = 0;
  const auto set = [&](std::byte* data) {
    dnnl_memory_set_data_handle_v2(memories_[i++].get(), data, stream_.get());
  };
  for (std::byte* data : args.in) set(data);
  for (std::byte* data : args.out) set(data);
  set(args.scratch);
  // The C interface: the C++ one builds a hash map of the arguments at every call.
  const dnnl_status_t status = dnnl_primitive_execute(primitive_.get(), stream_.get(),
                                                      static_cast<int>(arguments_.size()), arguments_.data());
  TPACK_ASSERT(status == dnnl_success, "a oneDNN primitive failed with status " + std::to_string(status));
}

dnnl::primitive_attr user_scratchpad() {
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  return attributes;
}

namespace {

/// Weights of a grouped convolution have one axis more in oneDNN: the plain side is read that way too.
dnnl::memory::desc plain_like(const Format& plain, const Format& other) {
  if (plain.md.dims().size() == other.md.dims().size() || plain.layout == Layout::kOpaque) return plain.md;
  return {other.md.dims(), plain.md.data_type(), dnnl::memory::format_tag::abcde};
}

}  // namespace

std::unique_ptr<CpuKernel> make_reorder(const Format& given_from, const Format& given_to,
                                        uint64_t& scratch_bytes) {
  const Format from{given_from.layout, plain_like(given_from, given_to)};
  const Format to{given_to.layout, plain_like(given_to, given_from)};
  if (from.md == to.md) {  // a copy: not worth a team of threads where it is small, and memcpy's business
                           // where it is not
    const size_t bytes = from.bytes();
    return make_kernel([bytes](const KernelArgs& args) { std::memcpy(args.out[0], args.in[0], bytes); });
  }
  const dnnl::reorder::primitive_desc pd(engine(), from.md, engine(), to.md, user_scratchpad());
  scratch_bytes = pd.scratchpad_desc().get_size();
  return std::make_unique<PrimitiveKernel>(
      dnnl::reorder(pd), std::vector<PrimitiveKernel::Operand>{{DNNL_ARG_FROM, from.md}},
      std::vector<PrimitiveKernel::Operand>{{DNNL_ARG_TO, to.md}}, pd.scratchpad_desc());
}

}  // namespace tpack::cpu
