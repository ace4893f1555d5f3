#include "backend/passes/depth_first.h"

#include <algorithm>
#include <array>

#include "cpu/batch_pieces.h"
#include "cpu/kernel.h"
#include "cpu/sweep/simd.h"

namespace tpack::cpu {
namespace {

constexpr int64_t kCacheBytes = int64_t{1} << 20;  // for the values in between: half a second-level cache

/// Into how many equal parts images are cut so that a part of `bytes` stays in the cache.
int64_t parts_of(int64_t images, int64_t bytes) {
  int64_t parts = 1;
  while (parts < images && (images % parts != 0 || bytes / parts > kCacheBytes)) ++parts;
  return parts;
}

/// Where an operand of one of the two kernels is: which operand of the node, and how far it moves from one
/// part to the next. No operand: in the scratch memory.
struct PartOperand {
  int node_operand = -1;
  uint64_t step = 0;
  uint64_t scratch = 0;
};

struct Half {
  std::unique_ptr<Kernel> kernel;
  std::vector<PartOperand> in;
  std::vector<PartOperand> out;
  uint64_t scratch = 0;
  std::vector<std::byte*> in_pointers;
  std::vector<std::byte*> out_pointers;
};

class DepthFirstKernel final : public Kernel {
 public:
  DepthFirstKernel(Half first, Half second, int64_t parts, size_t summed)
      : first_(std::move(first)), second_(std::move(second)), parts_(parts), summed_(summed) {
    for (Half* half : {&first_, &second_}) {
      half->in_pointers.resize(half->in.size());
      half->out_pointers.resize(half->out.size());
    }
  }

  void run(const KernelArgs& args) override {
    for (int64_t part = 0; part < parts_; ++part) {
      run_half(first_, args, part);
      run_half(second_, args, part);
      if (summed_ > 0) add(args, part);
    }
  }

 private:
  static void run_half(Half& half, const KernelArgs& args, int64_t part) {
    const auto at = [&](const PartOperand& o, std::span<std::byte* const> operands) {
      if (o.node_operand < 0) return args.scratch + o.scratch;
      return operands[static_cast<size_t>(o.node_operand)] + static_cast<uint64_t>(part) * o.step;
    };
    for (size_t i = 0; i < half.in.size(); ++i) half.in_pointers[i] = at(half.in[i], args.in);
    for (size_t i = 0; i < half.out.size(); ++i) half.out_pointers[i] = at(half.out[i], args.out);
    half.kernel->run(
        {half.in_pointers, half.out_pointers, args.scratch + half.scratch, args.info, args.queue});
  }

  /// The sum over the parts, in their order.
  void add(const KernelArgs& args, int64_t part) const {
    auto* sum = reinterpret_cast<float*>(args.out[0]);
    const auto* one = reinterpret_cast<const float*>(second_.out_pointers[0]);
    if (part == 0) return void(std::copy_n(one, summed_, sum));
    simd::add_to(one, sum, summed_);
  }

  Half first_;
  Half second_;
  int64_t parts_;
  size_t summed_;  // elements of an output that is a sum, 0 if there is none
};

/// Prepares both kernels for one part of `images` images and lays them out over their operands and one block
/// of scratch memory: the values in between, one part of a sum, then room for the kernels themselves.
class Composition {
 public:
  Composition(const KernelRequest& request, int64_t images)
      : request_(request), op_(*op_cast<DepthFirst>(request.node)) {
    specs_ = specs_of(images);
    parts_ = parts_of(images, nodes_of(op_, specs_).first->outputs[0].bytes());
    const DepthFirstNodes nodes = nodes_of(op_, specs_of(images / parts_));
    first_ = prepare_part(*nodes.first);
    second_ = prepare_part(*nodes.second);
    TPACK_ASSERT(same_memory(first_.out[0], second_.in[op_.between()]),
                 "what lies between is read as it is written");
    between_bytes_ = aligned(first_.out[0].bytes());
    kernels_at_ = between_bytes_ + (op_.sums() ? aligned(second_.out[0].bytes()) : 0);
  }

  PreparedKernel run() {
    place_inputs();
    place_outputs();
    whole_.scratch_bytes = kernels_at_ + std::max(first_.scratch_bytes, second_.scratch_bytes);
    halves_[0].kernel = std::move(first_.kernel);
    halves_[1].kernel = std::move(second_.kernel);
    for (Half& half : halves_) half.scratch = kernels_at_;
    const size_t summed = op_.sums() ? second_.out[0].bytes() / sizeof(float) : 0;
    whole_.kernel =
        std::make_unique<DepthFirstKernel>(std::move(halves_[0]), std::move(halves_[1]), parts_, summed);
    return std::move(whole_);
  }

 private:
  /// The inputs' specs for some images.
  std::vector<TensorSpec> specs_of(int64_t images) const {
    std::vector<TensorSpec> specs;
    for (const Symbol& input : request_.node.inputs) {
      specs.push_back(input.spec());
      if (op_.per_image(specs.size() - 1)) specs.back().shape = specs.back().shape.with(0, images);
    }
    return specs;
  }
  PreparedKernel prepare_part(const Node& node) const {
    const KernelEntry* entry = find_kernel(node);
    return entry->prepare({node, request_.layout, request_.algorithm, 1});
  }
  /// The format of all images, given the format `part` of some.
  static Format of_whole(const Format& part, const TensorSpec& spec, bool per_image) {
    return per_image ? make_format(spec, part.layout) : part;
  }

  void place_inputs() {
    const auto add = [&](Half& half, const Format& part) {
      const size_t input = whole_.in.size();
      const bool per_image = op_.per_image(input);
      half.in.push_back({static_cast<int>(input), per_image ? part.bytes() : 0, 0});
      whole_.in.push_back(of_whole(part, specs_[input], per_image));
    };
    for (const Format& format : first_.in) add(halves_[0], format);
    for (size_t i = 0; i < second_.in.size(); ++i) {
      if (i == op_.between()) {
        halves_[1].in.emplace_back();
      } else {
        add(halves_[1], second_.in[i]);
      }
    }
  }

  void place_outputs() {
    halves_[0].out.emplace_back();
    for (size_t i = 0; i < second_.out.size(); ++i) {
      const Format& part = second_.out[i];
      TensorSpec spec = request_.node.outputs[i];
      if (!op_.sums()) spec.shape = spec.shape.with(0, specs_[0].shape[0]);
      whole_.out.push_back(of_whole(part, spec, !op_.sums()));
      halves_[1].out.push_back(op_.sums() ? PartOperand{-1, 0, between_bytes_}
                                          : PartOperand{static_cast<int>(i), part.bytes(), 0});
    }
  }

  const KernelRequest& request_;
  const DepthFirst& op_;
  std::vector<TensorSpec> specs_;
  int64_t parts_ = 1;
  PreparedKernel first_;
  PreparedKernel second_;
  uint64_t between_bytes_ = 0;
  uint64_t kernels_at_ = 0;
  PreparedKernel whole_;
  std::array<Half, 2> halves_;
};

PreparedKernel prepare_depth_first(const KernelRequest& request) {
  const Node& node = request.node;
  const auto& op = *op_cast<DepthFirst>(node);
  PerImage per_image;
  for (size_t i = 0; i < node.inputs.size(); ++i) per_image.in.push_back(op.per_image(i));
  per_image.out.assign(node.outputs.size(), !op.sums());
  return cut_batch(request, node.inputs[0].shape()[0], per_image,
                   [&](int64_t images) { return Composition(request, images).run(); });
}

const KernelRegistration kDepthFirst("DepthFirst", prepare_depth_first, LayoutRule::kChosen);

}  // namespace
}  // namespace tpack::cpu
