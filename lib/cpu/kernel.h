#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "backend/run_info.h"
#include "cpu/format.h"
#include "cpu/team.h"
#include "graph/op.h"

namespace tpack::cpu {

/// Pointers of one run of a kernel.
struct KernelArgs {
  std::span<std::byte* const> in;
  std::span<std::byte* const> out;
  std::byte* scratch = nullptr;
  const RunInfo* info = nullptr;
  Team* team = nullptr;  // that the work is spread over; may be null for a kernel of one piece
};

/// A kernel that is prepared once for fixed shapes and formats, and then only run. `run` allocates nothing,
/// except in oneDNN's matrix products, which allocate blocks to pack operands into.
/// Threads: one run at a time; it spreads its work over the team that it is given.
class CpuKernel {
 public:
  virtual ~CpuKernel() = default;
  virtual void run(const KernelArgs& args) = 0;
};

/// Input of `prepare`.
struct KernelRequest {
  const Node& node;
  Layout layout = Layout::kPlain;  // chosen for the node's image operands
  std::string algorithm;           // chosen; "" if there is only one
  int pieces = 1;                  // into which the work is cut if there is enough; the result depends on it
};

/// A kernel with the formats that it takes and gives. The executable reorders inputs that have other formats.
struct PreparedKernel {
  std::unique_ptr<CpuKernel> kernel;  // null: the outputs are memory of the first input under another name
  std::vector<Format> in;
  std::vector<Format> out;
  uint64_t scratch_bytes = 0;
  std::vector<std::pair<int, int>> in_place;  // (output, input) that may share memory
  uint64_t part_begin = 0;  // without a kernel: bytes of the first input before the output starts
};

/// Errors: ConfigError if the chosen layout or algorithm is not available.
using Prepare = PreparedKernel (*)(const KernelRequest& request);

/// How an op's kernel treats layouts, for the layout choice.
enum class LayoutRule : uint8_t {
  kPlain,     // plain in, plain out
  kAgnostic,  // all image operands in one layout, any that the kernel accepts
  kChosen     // a convolution: layout and algorithm are chosen together
};

/// Whether a kernel computes a node in a layout itself. `prepare` may be asked for other layouts too, and
/// then falls back to one that it has. The layout choice must know this; otherwise it counts those reorders
/// as free.
using Accepts = bool (*)(const Node& node, Layout layout);

struct KernelEntry {
  Prepare prepare = nullptr;
  LayoutRule rule = LayoutRule::kPlain;
  Accepts accepts = nullptr;  // null: every layout
  bool takes_int64 = false;
};

/// Null if the op has none, or has none for these types: of int64, which oneDNN does not know.
const KernelEntry* find_kernel(const Node& node);

/// Adds a kernel at start-up: `const KernelRegistration kMatMul("MatMul", prepare, LayoutRule::kPlain);`
struct KernelRegistration {
  KernelRegistration(const char* op_type, Prepare prepare, LayoutRule rule, Accepts accepts = nullptr,
                     bool takes_int64 = false);
};

inline constexpr int64_t kGrain = 16384;  // elements that are worth waking a thread for

/// Bytes rounded up, so that the next block starts on a cache line.
inline uint64_t aligned(uint64_t bytes) { return (bytes + 63) / 64 * 64; }

inline const float* floats(const std::byte* data) { return reinterpret_cast<const float*>(data); }
inline float* floats_out(std::byte* data) { return reinterpret_cast<float*>(data); }

/// A kernel whose operands are all in plain layout.
PreparedKernel plain_kernel(const KernelRequest& request, std::unique_ptr<CpuKernel> kernel,
                            uint64_t scratch_bytes = 0);

/// Formats of a node's inputs and outputs, images in `layout`.
std::vector<Format> input_formats(const Node& node, Layout layout);
std::vector<Format> output_formats(const Node& node, Layout layout);

/// A kernel from a lambda: for kernels without state of their own.
template <class F>
class FunctionKernel final : public CpuKernel {
 public:
  explicit FunctionKernel(F f) : f_(std::move(f)) {}
  void run(const KernelArgs& args) override { f_(args); }

 private:
  F f_;
};
template <class F>
std::unique_ptr<CpuKernel> make_kernel(F f) {
  return std::make_unique<FunctionKernel<F>>(std::move(f));
}

}  // namespace tpack::cpu
