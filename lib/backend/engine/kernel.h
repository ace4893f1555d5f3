#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "backend/engine/format.h"
#include "backend/passes/memory.h"
#include "backend/run_info.h"
#include "graph/graph.h"
#include "graph/op.h"

namespace tpack {

class Fused;

/// Executes the kernels of a device: the threads of a processor, a queue of a GPU. Threads: one job at a
/// time, from any thread.
class KernelQueue {
 public:
  virtual ~KernelQueue() = default;
  /// Calls `f`, which runs kernels on this queue. Kernels of a device with separate memory may still run when
  /// it returns.
  template <class F>
  void submit(const F& f) {
    submit_call([](const void* g) { (*static_cast<const F*>(g))(); }, &f);
  }
  /// Waits for all submitted work. Errors: those of the kernels.
  virtual void wait() {}
  /// The number of threads of a run, including the calling one.
  virtual int threads() const = 0;
  /// See Device::assist.
  virtual void assist(const std::atomic<uint32_t>& turn, uint32_t old) {
    turn.wait(old, std::memory_order_acquire);
  }

 protected:
  using Call = void (*)(const void* f);
  virtual void submit_call(Call call, const void* f) { call(f); }
};

/// Pointers of one run of a kernel, in the memory of its device.
struct KernelArgs {
  std::span<std::byte* const> in;
  std::span<std::byte* const> out;
  std::byte* scratch = nullptr;
  const RunInfo* info = nullptr;
  KernelQueue* queue = nullptr;  // may be null for a kernel of one piece
};

/// A kernel, prepared once for fixed shapes and formats, and then run many times. `run` does not allocate; a
/// library that it calls may. Threads: one run at a time; it divides its work over the given queue.
class Kernel {
 public:
  virtual ~Kernel() = default;
  virtual void run(const KernelArgs& args) = 0;
};

/// Input of `prepare`.
struct KernelRequest {
  const Node& node;
  Layout layout = Layout::kPlain;  // chosen for the node's image operands
  std::string algorithm;           // chosen; "" if there is only one
  int pieces = 1;                  // into which the work is cut if there is enough; the result depends on it
};

/// A kernel with the formats of its inputs and outputs. The executable reorders inputs with different
/// formats.
struct PreparedKernel {
  std::unique_ptr<Kernel> kernel;  // null: the outputs use the memory of the first input
  std::vector<Format> in;
  std::vector<Format> out;
  uint64_t scratch_bytes = 0;
  std::vector<std::pair<int, int>> in_place = {};  // (output, input) that may share memory
  uint64_t part_begin = 0;  // without a kernel: bytes of the first input before the output starts
};

/// A kernel with all operands in plain layout.
PreparedKernel plain_kernel(const KernelRequest& request, std::unique_ptr<Kernel> kernel,
                            uint64_t scratch_bytes = 0);

/// Formats of a node's inputs and outputs, images in `layout`.
std::vector<Format> input_formats(const Node& node, Layout layout);
std::vector<Format> output_formats(const Node& node, Layout layout);

/// A kernel from a lambda, for kernels without state.
template <class F>
class FunctionKernel final : public Kernel {
 public:
  explicit FunctionKernel(F f) : f_(std::move(f)) {}
  void run(const KernelArgs& args) override { f_(args); }

 private:
  F f_;
};
template <class F>
std::unique_ptr<Kernel> make_kernel(F f) {
  return std::make_unique<FunctionKernel<F>>(std::move(f));
}

/// How an op's kernel treats layouts, for the layout choice.
enum class LayoutRule : uint8_t {
  kPlain,     // plain in, plain out
  kAgnostic,  // all image operands in one layout, any that the kernel accepts
  kChosen     // a convolution: layout and algorithm are chosen together
};

/// A way to run a node of LayoutRule::kChosen. `gain`: the speedup over the plain way in the fixed rules.
struct Way {
  Layout layout = Layout::kNhwc;
  std::string algorithm = {};
  double gain = 1;
};

/// The kernels of a kind of device: everything that the engine (lowering, layout choice, timing, executables)
/// needs to know about it. Threads: any number at the same time.
class KernelLibrary {
 public:
  virtual ~KernelLibrary() = default;
  /// The hardware that choices are for, "GenuineIntel 6/143/8 AVX3_SPR".
  virtual const std::string& hardware() const = 0;
  /// The version of the kernels; timings of other versions are ignored.
  virtual std::string version() const = 0;
  /// The program in ops with kernels, including fused ones.
  virtual Graph rewritten(const Graph& graph) const = 0;
  /// Whether the kernel of a product computes the epilogue in its end (fuse_epilogues asks, for each longer
  /// one); what it does not is left to a sweep. `inputs`: those of the product, then the further ones.
  virtual bool fuses(const Fused& op, std::span<const Symbol> inputs) const {
    (void)op, (void)inputs;
    return false;
  }
  /// The type in which values between kernels are stored (store_half), float32 or a float of 16 bits.
  virtual DType stored_type() const { return DType::kFloat32; }
  /// Whether the kernel of a node takes values of the stored type: factors of a product, any input of a
  /// sweep. Results of other nodes then have that type too.
  virtual bool takes_stored(const Node& node) const {
    (void)node;
    return false;
  }
  virtual LayoutRule rule(const Node& node) const = 0;
  /// Whether a kernel computes a node in a layout itself. `prepare` also accepts other layouts, and then uses
  /// a supported one. The layout choice must know this; otherwise it counts those reorders as free.
  virtual bool accepts(const Node& node, Layout layout) const = 0;
  /// At least one, for a node of LayoutRule::kChosen; the usual winner is the first of those with an
  /// `algorithm`. `only_direct`: without those that add in a different order.
  virtual std::vector<Way> ways(const Node& node, bool only_direct) const = 0;
  /// The name of a node's kernel in profiles: "MatMul".
  virtual std::string kind(const Node& node) const { return node.op->type(); }
  /// Errors: ConfigError if the chosen layout or algorithm is not available.
  virtual PreparedKernel prepare(const KernelRequest& request) const = 0;
  /// A copy between two formats of one tensor, in pieces of its first axis. Errors: ConfigError if there is
  /// none.
  virtual std::unique_ptr<Kernel> reorder(const Format& from, const Format& to, int pieces,
                                          uint64_t& scratch_bytes) const = 0;
  /// Called after trying many ways: their cached data is no longer needed.
  virtual void forget_ways() const {}
};

}  // namespace tpack
