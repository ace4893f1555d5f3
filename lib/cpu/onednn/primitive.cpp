#include "cpu/onednn/primitive.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "core/error.h"
#include "cpu/onednn/onednn.h"
#include "cpu/piece_kernel.h"

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
  // The C interface: the C++ interface builds a hash map of the arguments in every call.
  const dnnl_status_t status = dnnl_primitive_execute(primitive_.get(), stream_.get(),
                                                      static_cast<int>(arguments_.size()), arguments_.data());
  TPACK_ASSERT(status == dnnl_success, "a oneDNN primitive failed with status " + std::to_string(status));
}

dnnl::primitive_attr user_scratchpad() {
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  return attributes;
}

void append_relu(dnnl::primitive_attr& attributes) {
  // With a slope below zero, oneDNN multiplies; otherwise it uses vmaxps(y, 0), which is 0 for a NaN. A
  // denormal slope counts as zero (FlushDenormals).
  constexpr float kSlope = std::numeric_limits<float>::denorm_min();
  dnnl::post_ops after;
  after.append_eltwise(1.0F, dnnl::algorithm::eltwise_relu, kSlope, 0.0F);
  attributes.set_post_ops(after);
}

namespace {

/// oneDNN sees the weights of a grouped convolution with one more axis: the plain side is read that way too.
dnnl::memory::desc plain_like(const Format& plain, const Format& other) {
  const dnnl::memory::desc own = md_of(plain);
  if (plain.sizes.rank() == other.sizes.rank() || plain.layout == Layout::kOpaque) return own;
  return {md_of(other).dims(), own.data_type(), dnnl::memory::format_tag::abcde};
}

/// A reorder of one part of a tensor; the descriptions say where the part is.
Piece reorder_piece(const dnnl::memory::desc& from, const dnnl::memory::desc& to) {
  const dnnl::reorder::primitive_desc pd(engine(), from, engine(), to, user_scratchpad());
  const std::vector<PrimitiveKernel::Operand> in = {{DNNL_ARG_FROM, from}};
  const std::vector<PrimitiveKernel::Operand> out = {{DNNL_ARG_TO, to}};
  return {std::make_unique<PrimitiveKernel>(dnnl::reorder(pd), in, out, pd.scratchpad_desc()),
          {0},
          {0},
          pd.scratchpad_desc().get_size()};
}

/// Parts along the first axis, split where no block of channels is split; the whole if it cannot be split.
std::vector<Piece> reorder_pieces(const dnnl::memory::desc& from, const dnnl::memory::desc& to, bool weights,
                                  int pieces) {
  constexpr uint64_t kByteGrain = 65536;  // worth waking a thread for
  constexpr int64_t kMaxBlock = 64;       // of oneDNN's weights
  const int64_t step = weights ? kMaxBlock : 1;
  dnnl::memory::dims dims = from.dims();
  const int64_t blocks = (dims[0] + step - 1) / step;
  const int64_t count =
      to.get_size() < kByteGrain * static_cast<uint64_t>(pieces) ? 1 : std::min<int64_t>(pieces, blocks);
  std::vector<Piece> all;
  for (int64_t i = 0; i < count && count > 1; ++i) {
    dnnl::memory::dims offsets(dims.size(), 0);
    offsets[0] = blocks * i / count * step;
    dnnl::memory::dims part = dims;
    part[0] = std::min(dims[0], blocks * (i + 1) / count * step) - offsets[0];
    const dnnl::memory::desc from_part = from.submemory_desc(part, offsets, true);
    const dnnl::memory::desc to_part = to.submemory_desc(part, offsets, true);
    if (!from_part || !to_part) return reorder_pieces(from, to, weights, 1);
    all.push_back(reorder_piece(from_part, to_part));
  }
  if (all.empty()) all.push_back(reorder_piece(from, to));
  return all;
}

}  // namespace

std::unique_ptr<Kernel> make_reorder(const Format& given_from, const Format& given_to, int pieces,
                                     uint64_t& scratch_bytes) {
  const dnnl::memory::desc from = plain_like(given_from, given_to);
  const dnnl::memory::desc to = plain_like(given_to, given_from);
  if (from == to) {  // a copy: memcpy does it
    const size_t bytes = from.get_size();
    return make_kernel([bytes](const KernelArgs& args) { std::memcpy(args.out[0], args.in[0], bytes); });
  }
  const bool weights = given_from.layout == Layout::kOpaque || given_to.layout == Layout::kOpaque;
  auto kernel = std::make_unique<PieceKernel>(reorder_pieces(from, to, weights, pieces));
  scratch_bytes = kernel->scratch_bytes();
  return kernel;
}

}  // namespace tpack::cpu
